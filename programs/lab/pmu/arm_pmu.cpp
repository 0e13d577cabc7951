#include "programs/lab/pmu/arm_pmu.hpp"

#include <fmt/format.h>

namespace tally::pmu::emulated {
namespace {

enum ControlBits : std::uint64_t {
  enable = 1 << 0,
  reset_events = 1 << 1,
  reset_cycles = 1 << 2,
  by_64 = 1 << 3,
  long_cycles = 1 << 6,
  long_events = 1 << 7,
};
constexpr std::uint64_t control_stored = 0x79;  // E, D, X, DP, LC
constexpr int shift_of_n = 11;

// PMUSERENR_EL0
enum UserBits : std::uint64_t { user_all = 1, user_increment = 2, user_cycles = 4, user_events = 8 };

// The encodings of the registers: op0, op1, CRn, CRm, op2.
constexpr std::uint64_t control_register = system_register(3, 3, 9, 12, 0);
constexpr std::uint64_t enable_set = system_register(3, 3, 9, 12, 1);
constexpr std::uint64_t enable_clear = system_register(3, 3, 9, 12, 2);
constexpr std::uint64_t overflow_clear = system_register(3, 3, 9, 12, 3);
constexpr std::uint64_t increment = system_register(3, 3, 9, 12, 4);
constexpr std::uint64_t select = system_register(3, 3, 9, 12, 5);
constexpr std::uint64_t common_events_0 = system_register(3, 3, 9, 12, 6);
constexpr std::uint64_t common_events_1 = system_register(3, 3, 9, 12, 7);
constexpr std::uint64_t cycle_count = system_register(3, 3, 9, 13, 0);
constexpr std::uint64_t selected_type = system_register(3, 3, 9, 13, 1);
constexpr std::uint64_t selected_count = system_register(3, 3, 9, 13, 2);
constexpr std::uint64_t user_enable = system_register(3, 3, 9, 14, 0);
constexpr std::uint64_t overflow_set = system_register(3, 3, 9, 14, 3);
constexpr std::uint64_t interrupt_set = system_register(3, 0, 9, 14, 1);
constexpr std::uint64_t interrupt_clear = system_register(3, 0, 9, 14, 2);
constexpr std::uint64_t first_count = system_register(3, 3, 14, 8, 0);
constexpr std::uint64_t first_type = system_register(3, 3, 14, 12, 0);
constexpr std::uint64_t cycle_filter = system_register(3, 3, 14, 15, 7);

// SW_INCR, INST_RETIRED, CPU_CYCLES, MEM_ACCESS, CHAIN, L1 refills and accesses, BR_MIS_PRED; BR_RETIRED, the stalls.
constexpr std::uint64_t events_0 = 1ULL << 0x00 | 1ULL << 0x01 | 1ULL << 0x03 | 1ULL << 0x04 | 1ULL << 0x08 |
                                   1ULL << 0x10 | 1ULL << 0x11 | 1ULL << 0x13 | 1ULL << 0x1B | 1ULL << 0x1E;
constexpr std::uint64_t events_1 = 1ULL << 0x01 | 1ULL << 0x03 | 1ULL << 0x04 | 1ULL << 0x1C;

bool in_row(std::uint64_t number, std::uint64_t first) { return number >= first && number < first + 31; }

}  // namespace

ArmPmu::ArmPmu(ArmBehaviour behaviour) : behaviour_(behaviour) {
  enabled_ = overflowed_ = interrupts_ = poison & mask();
  cycles_ = poison;
  counts_.fill(poison);
  types_.fill(poison & type_mask());
  cycles_filter_ = poison & 0xFC00'0000;
}

// Event number, and the filters P, U, NSK, NSU, NSH, M.
std::uint64_t ArmPmu::type_mask() const { return 0xFC00'03FF; }

bool ArmPmu::is_enabled(int counter) const { return (control_ & enable) != 0 && (enabled_ >> counter & 1) != 0; }

// P excludes EL1, U excludes EL0: the opposite of Intel's bits, which include.
bool ArmPmu::counts_at(std::uint64_t filter, int level) const {
  return level == 0 ? (filter >> 30 & 1) == 0 : (filter >> 31 & 1) == 0;
}

void ArmPmu::add(int counter, std::uint64_t times) {
  if (times == 0 || !is_there(counter)) return;
  std::uint64_t& count = counts_[static_cast<std::size_t>(counter)];
  const bool is_long = behaviour_.long_counters && (control_ & long_events) != 0;
  const std::uint64_t before = count;
  count += times;
  const bool wraps = is_long ? count < before : (before & 0xFFFF'FFFF) + times > 0xFFFF'FFFF;
  if (!behaviour_.long_counters) count &= 0xFFFF'FFFF;
  if (!wraps) return;
  overflowed_ |= 1ULL << counter;
  // CHAIN on an odd counter counts the overflows of the even counter before it.
  const int above = counter + 1;
  if (counter % 2 == 0 && is_there(above) && is_enabled(above) &&
      (types_[static_cast<std::size_t>(above)] & 0x3FF) == chain) {
    add(above, 1);
  }
}

void ArmPmu::add_cycles(std::uint64_t cycles) {
  const bool is_long = (control_ & long_cycles) != 0;
  if (!is_long && (control_ & by_64) != 0) {
    cycles_rest_ += cycles;
    cycles = cycles_rest_ / 64;
    cycles_rest_ %= 64;
  }
  const std::uint64_t before = cycles_;
  cycles_ += cycles;
  const bool wraps = is_long ? cycles_ < before : (before & 0xFFFF'FFFF) + cycles > 0xFFFF'FFFF;
  if (wraps) overflowed_ |= 1ULL << cycle_counter;
}

void ArmPmu::retire(const ArmWork& work, int level) {
  const auto times = [&](std::uint64_t event) {
    const auto found = work.find(static_cast<std::uint16_t>(event));
    return found == work.end() ? 0 : found->second;
  };
  for (int i = 0; i < behaviour_.counters; ++i) {
    const std::uint64_t type = types_[static_cast<std::size_t>(i)];
    const std::uint64_t event = type & 0x3FF;
    if (!is_enabled(i) || !counts_at(type, level) || event == chain || event == sw_increment) continue;
    add(i, times(event));
  }
  if (is_enabled(cycle_counter) && counts_at(cycles_filter_, level)) add_cycles(times(cpu_cycles));
}

bool ArmPmu::has_interrupt() const { return (control_ & enable) != 0 && (interrupts_ & overflowed_) != 0; }

void ArmPmu::write_control(std::uint64_t value) {
  const std::uint64_t stored = behaviour_.long_counters ? control_stored | std::uint64_t{long_events} : control_stored;
  control_ = value & stored;
  if ((value & reset_events) != 0) {
    for (int i = 0; i < behaviour_.counters; ++i) counts_[static_cast<std::size_t>(i)] = 0;
  }
  if ((value & reset_cycles) != 0) cycles_ = cycles_rest_ = 0;
}

std::uint64_t ArmPmu::read_type(int counter) const {
  if (counter == cycle_counter) return cycles_filter_;
  return is_there(counter) ? types_[static_cast<std::size_t>(counter)] : 0;
}

void ArmPmu::write_type(int counter, std::uint64_t value) {
  if (counter == cycle_counter) cycles_filter_ = value & 0xFC00'0000;
  if (is_there(counter)) types_[static_cast<std::size_t>(counter)] = value & type_mask();
}

std::uint64_t ArmPmu::read_count(int counter) const {
  return is_there(counter) ? counts_[static_cast<std::size_t>(counter)] : 0;
}

void ArmPmu::write_count(int counter, std::uint64_t value) {
  if (!is_there(counter)) return;
  counts_[static_cast<std::size_t>(counter)] = behaviour_.long_counters ? value : value & 0xFFFF'FFFF;
}

bool ArmPmu::user_may(std::uint64_t number, bool writes) const {
  if (number == interrupt_set || number == interrupt_clear) return false;
  if (number == user_enable) return !writes;
  if ((user_ & user_all) != 0) return true;
  if (number == increment) return writes && (user_ & user_increment) != 0;
  if (number == cycle_count) return !writes && (user_ & user_cycles) != 0;
  if (number == select) return (user_ & user_events) != 0;
  return !writes && (user_ & user_events) != 0 && (number == selected_count || in_row(number, first_count));
}

Answer ArmPmu::read(std::uint64_t number, int level) const {
  if (level == 0 && !user_may(number, false))
    return {0, "MRS at EL0 that PMUSERENR_EL0 does not allow: it traps to EL1"};
  if (in_row(number, first_count)) return {read_count(static_cast<int>(number - first_count))};
  if (in_row(number, first_type)) return {read_type(static_cast<int>(number - first_type))};
  switch (number) {
    case control_register: return {control_ | static_cast<std::uint64_t>(behaviour_.counters) << shift_of_n};
    case enable_set:
    case enable_clear: return {enabled_};
    case overflow_set:
    case overflow_clear: return {overflowed_};
    case interrupt_set:
    case interrupt_clear: return {interrupts_};
    case increment: return {0, "PMSWINC_EL0 is write-only"};
    case select: return {selected_};
    case common_events_0: return {events_0};
    case common_events_1: return {events_1};
    case cycle_count: return {cycles_};
    case cycle_filter: return {cycles_filter_};
    case selected_type: return {read_type(static_cast<int>(selected_))};
    case selected_count: return {read_count(static_cast<int>(selected_))};
    case user_enable: return {user_};
    default: return {0, "the emulated core has no such register"};
  }
}

Answer ArmPmu::write(std::uint64_t number, std::uint64_t value, int level) {
  if (level == 0 && !user_may(number, true))
    return {0, "MSR at EL0 that PMUSERENR_EL0 does not allow: it traps to EL1"};
  if (in_row(number, first_count)) return write_count(static_cast<int>(number - first_count), value), Answer{};
  if (in_row(number, first_type)) return write_type(static_cast<int>(number - first_type), value), Answer{};
  switch (number) {
    case control_register: write_control(value); break;
    case enable_set: enabled_ |= value & mask(); break;
    case enable_clear: enabled_ &= ~value; break;
    case overflow_set: overflowed_ |= value & mask(); break;
    case overflow_clear: overflowed_ &= ~value; break;
    case interrupt_set: interrupts_ |= value & mask(); break;
    case interrupt_clear: interrupts_ &= ~value; break;
    case increment:
      for (int i = 0; i < behaviour_.counters; ++i) {
        const bool is_asked = (value >> i & 1) != 0 && (types_[static_cast<std::size_t>(i)] & 0x3FF) == sw_increment;
        if (is_asked && is_enabled(i) && counts_at(types_[static_cast<std::size_t>(i)], level)) add(i, 1);
      }
      break;
    case select: selected_ = value & 0x1F; break;
    case cycle_count: cycles_ = value; break;
    case cycle_filter: write_type(cycle_counter, value); break;
    case selected_type: write_type(static_cast<int>(selected_), value); break;
    case selected_count: write_count(static_cast<int>(selected_), value); break;
    case user_enable: user_ = value & 0xF; break;
    case common_events_0:
    case common_events_1: return {0, "the register is read-only"};
    default: return {0, "the emulated core has no such register"};
  }
  return {};
}

}  // namespace tally::pmu::emulated
