#include "programs/lab/arm/arm_core.hpp"

#include <fmt/format.h>

#include <array>

#include "programs/lab/arm/pmu_registers.hpp"
#include "programs/lab/pmu/apple_pmu.hpp"
#include "programs/lab/pmu/arm_pmu.hpp"
#include "programs/register/pmu/codec.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::lab::arm {
namespace {

using pmu::system_register;
using pmu::emulated::Answer;

constexpr std::uint64_t cycle_count = system_register(3, 3, 9, 13, 0);
constexpr std::uint64_t first_count = system_register(3, 3, 14, 8, 0);
constexpr int cycle_bit = 31;
constexpr std::uint64_t long_cycles = 1 << 6;

// The events of instructions in the lab, with the rule for each.
enum Event : std::uint16_t {
  refills = 0x03,
  accesses = 0x04,
  retired = 0x08,
  mispredicted = 0x10,
  cycles = 0x11,
  memory = 0x13,
  speculated = 0x1B,
  branches = 0x21,
};

class PmuV3 : public Core {
 public:
  explicit PmuV3(const pmu::emulated::ArmProfile& profile) : Core(profile), pmu_({profile.counters, false}) {
    work_[retired] = work_[speculated] = 1;
  }

  Answer read(std::uint64_t number, int level) const override { return pmu_.read(number, level); }
  Answer write(std::uint64_t number, std::uint64_t value, int level) override {
    const Answer answer = pmu_.write(number, value, level);
    if (answer) remember(number, value);
    return answer;
  }
  void retire(const RetiredInstruction& done, int level) override {
    misses_ = done.misses;
    accesses_ = memory_ = done.accesses;
    mispredicted_ = done.is_mispredicted ? 1 : 0;
    branches_ = done.is_branch ? 1 : 0;
    cycles_ = done.cycles;
    pmu_.retire(work_, level);
  }
  Line line() const override { return pmu_.has_interrupt() ? Line::irq : Line::none; }
  std::uint64_t overflows() const override { return pmu_.overflowed(); }
  std::string counter_name(int bit) const override {
    return bit == cycle_bit ? "PMCCNTR_EL0" : fmt::format("PMEVCNTR{}_EL0", bit);
  }
  bool models(std::uint32_t event) const override {
    return work_.contains(static_cast<std::uint16_t>(event)) || event == pmu::emulated::chain ||
           event == pmu::emulated::sw_increment;
  }
  std::vector<CounterState> counters() const override {
    const std::uint64_t on = (get(pmcr) & 1) != 0 ? get(pmcntenset) : 0;
    const int top = (get(pmcr) & long_cycles) != 0 ? 64 : 32;
    std::vector<CounterState> all = {{counter_name(cycle_bit), get(cycle_count), "cycles", (on >> cycle_bit & 1) != 0,
                                      top, (known_ >> cycle_bit & 1) != 0}};
    for (int i = 0; i < profile().counters; ++i) {
      const auto at = static_cast<std::uint64_t>(i);
      all.push_back(
          {counter_name(i), get(first_count + at), event_of(i), (on >> i & 1) != 0, 32, (known_ >> i & 1) != 0});
    }
    return all;
  }

 private:
  std::uint64_t get(std::uint64_t number) const { return pmu_.read(number, 1).value; }

  std::string event_of(int counter) const {
    const auto place = place_of(first_pmevtyper + static_cast<std::uint64_t>(counter));
    const std::uint64_t event = get(first_pmevtyper + static_cast<std::uint64_t>(counter)) & 0xFFFF;
    if (!place) return {};
    for (const pmu::Meaning& one : place->reg->fields.front().values) {
      if (one.value == event) return std::string(one.text);
    }
    return fmt::format("event {:02X}H", event);
  }

  // Remembers the counters that software has set; others hold an undefined value from reset.
  void remember(std::uint64_t number, std::uint64_t value) {
    constexpr std::uint64_t all_events = 0x7FFF'FFFF;
    if (number == pmcr && (value & 2) != 0) known_ |= all_events;
    if (number == pmcr && (value & 4) != 0) known_ |= 1ULL << cycle_bit;
    if (number == cycle_count) known_ |= 1ULL << cycle_bit;
    if (number >= first_count && number < first_count + 31) known_ |= 1ULL << (number - first_count);
    if (number == system_register(3, 3, 9, 13, 2)) known_ |= 1ULL << (get(system_register(3, 3, 9, 12, 5)) & 31);
  }

  pmu::emulated::ArmPmu pmu_;
  pmu::emulated::ArmWork work_;
  // The counts that differ between instructions, as references to avoid lookups.
  std::uint64_t& misses_ = work_[refills];
  std::uint64_t& accesses_ = work_[accesses];
  std::uint64_t& memory_ = work_[memory];
  std::uint64_t& mispredicted_ = work_[mispredicted];
  std::uint64_t& branches_ = work_[branches];
  std::uint64_t& cycles_ = work_[cycles];
  std::uint64_t known_ = 0;
};

constexpr int apple_counters = 10;

// Why the lab's core has none of these events of the M1.
std::string_view why_absent_on_apple(std::uint8_t code) {
  switch (code) {
    case 0x04:
    case 0x05:
    case 0x07:
    case 0x08:
    case 0x0A:
    case 0x0B:
    case 0x0D:
    case 0xA0:
    case 0xA1:
    case 0xC1:
    case 0xD4: return "The lab's core does not translate addresses";
    case 0xD3:
    case 0xDB: return "The lab's core has no instruction cache";
    case 0x70:
    case 0x75:
    case 0x76:
    case 0x84:
    case 0xC4:
    case 0xD6:
    case 0xDE:
      return "The lab's core executes one instruction after another, without a pipeline that stalls, reorders or "
             "restarts";
    default: break;
  }
  const auto* event = pmu::apple::find_event(code);
  return event && event->what.empty() ? "Nobody has published what it counts" : "";
}

// Event codes of apple/events.cpp that instructions of the lab can have.
class Apple : public Core {
 public:
  Apple(const pmu::emulated::ArmProfile& profile, bool strict) : Core(profile), pmu_({47, true, strict}) {
    for (const std::uint8_t one : codes) times_[one] = &work_.events[one];
    for (const pmu::RegisterInstance& place : pmu::places(*profile.model)) {
      for (int i = 0; i < apple_counters; ++i) {
        if (pmu::name(place) == fmt::format("PMC{}", i)) numbers_[i] = number_of(place);
      }
      if (pmu::name(place) == "PMSR_EL1") status_ = number_of(place);
      if (pmu::name(place) == "PMCR0_EL1") control_0_ = number_of(place);
      if (pmu::name(place) == "PMCR1_EL1") control_1_ = number_of(place);
      if (pmu::name(place) == "PMESR0_EL1") events_0_ = number_of(place);
      if (pmu::name(place) == "PMESR1_EL1") events_1_ = number_of(place);
    }
  }

  Answer read(std::uint64_t number, int level) const override { return pmu_.read(number, level); }
  Answer write(std::uint64_t number, std::uint64_t value, int level) override {
    return pmu_.write(number, value, level);
  }
  void synchronize() override { pmu_.synchronize(); }
  void retire(const RetiredInstruction& done, int level) override {
    const bool is_memory = done.is_load || done.is_store;
    const auto set = [&](unsigned code, bool is_so) { *times_[code] = is_so ? 1 : 0; };
    work_.cycles = *times_[0x02] = done.cycles;
    // One micro-op per instruction. The integer unit also executes branches; system instructions need no unit.
    const bool is_in_integer_unit = done.is_integer || done.is_branch;
    const bool is_in_vector_unit = done.is_vector && !is_memory;
    set(0x01, true);
    set(0x52, is_in_integer_unit || is_in_vector_unit || is_memory);
    for (const unsigned issued_or_mapped : {0x53U, 0x7CU}) set(issued_or_mapped, is_in_integer_unit);
    for (const unsigned issued_or_mapped : {0x54U, 0x7EU}) set(issued_or_mapped, is_in_vector_unit);
    for (const unsigned issued_or_mapped : {0x55U, 0x7DU}) set(issued_or_mapped, is_memory);
    *times_[0x6C] = line() == Line::none ? 0 : done.cycles;
    set(0x8C, true);
    set(0x8D, done.is_branch);
    set(0x8E, done.is_call);
    set(0x8F, done.is_return);
    set(0x90, done.is_taken);
    set(0x93, done.is_indirect);
    set(0x94, done.is_conditional);
    set(0x95, done.is_load && !done.is_vector);
    set(0x96, done.is_store && !done.is_vector);
    set(0x97, done.is_integer);
    set(0x98, done.is_load && done.is_vector);
    set(0x99, done.is_store && done.is_vector);
    set(0x9A, is_in_vector_unit);
    set(0x9B, is_memory);
    set(0x9C, done.is_barrier);
    set(0xBF, done.is_load && done.misses != 0);
    set(0xA3, done.is_load && done.misses != 0);
    set(0xC0, done.is_store && done.misses != 0);
    set(0xA2, done.is_store && done.misses != 0);
    set(0xA6, done.is_load);
    set(0xA7, done.is_store);
    set(0xB3, done.is_atomic);
    set(0xB4, done.is_failed_exclusive);
    set(0xC5, done.is_mispredicted && done.is_conditional);
    set(0xC6, done.is_mispredicted && done.is_indirect);
    set(0xCA, done.is_mispredicted && done.is_indirect && done.is_call);
    set(0xCB, done.is_mispredicted);
    pmu_.retire(work_, level);
  }
  Line line() const override { return pmu_.has_interrupt() ? Line::fiq : Line::none; }
  std::uint64_t overflows() const override { return get(status_); }
  std::string counter_name(int bit) const override { return fmt::format("PMC{}", bit); }
  bool models(std::uint32_t event) const override { return work_.events.contains(static_cast<std::uint8_t>(event)); }
  std::string_view why_absent(std::uint32_t event) const override {
    return why_absent_on_apple(static_cast<std::uint8_t>(event));
  }
  std::vector<CounterState> counters() const override {
    const std::uint64_t on = get(control_0_);
    const std::uint64_t levels = get(control_1_);
    std::vector<CounterState> all;
    for (int i = 0; i < apple_counters; ++i) {
      const int bit = i < 8 ? i : 24 + i;  // 32 and 33
      const bool runs = (on >> bit & 1) != 0 && ((levels >> (bit + 8) | levels >> (bit + 16)) & 1) != 0;
      all.push_back({counter_name(i), get(numbers_[i]), event_of(i), runs, 47, true});
    }
    return all;
  }

 private:
  static constexpr std::uint8_t codes[] = {0x01, 0x02, 0x52, 0x53, 0x54, 0x55, 0x6C, 0x7C, 0x7D, 0x7E, 0x8C, 0x8D, 0x8E,
                                           0x8F, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0xA2,
                                           0xA3, 0xA6, 0xA7, 0xB3, 0xB4, 0xBF, 0xC0, 0xC5, 0xC6, 0xCA, 0xCB};
  static std::uint64_t number_of(const pmu::RegisterInstance& place) {
    return place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
  }
  std::uint64_t get(std::uint64_t number) const { return pmu_.read(number, 1).value; }

  std::string event_of(int counter) const {
    if (counter < 2) return counter == 0 ? "cycles" : "instructions";
    const std::uint64_t select = get(counter < 6 ? events_0_ : events_1_);
    const auto code = static_cast<std::uint8_t>(select >> (8 * ((counter - 2) % 4)));
    if (code == 0) return "no event chosen";
    const auto* event = pmu::apple::find_event(code);
    if (!event) return fmt::format("event {:02X}H", code);
    return std::string(event->linux_name.empty() ? event->framework_name : event->linux_name);
  }

  pmu::emulated::ApplePmu pmu_;
  pmu::emulated::AppleWork work_;
  std::array<std::uint64_t*, 256> times_{};  // into the counts of an instruction, by code; only those of `codes`
  std::uint64_t numbers_[apple_counters] = {};
  std::uint64_t status_ = 0, control_0_ = 0, control_1_ = 0, events_0_ = 0, events_1_ = 0;
};

}  // namespace

Core::Core(const pmu::emulated::ArmProfile& profile) : profile_(profile) {
  for (const pmu::RegisterInstance& place : pmu::places(*profile_.model)) {
    if (place.reg->space != pmu::Space::system_register) continue;
    places_[place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride] = place;
  }
}

std::optional<pmu::RegisterInstance> Core::place_of(std::uint64_t number) const {
  const auto found = places_.find(number);
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

bool Core::is_counter(std::uint64_t number) const {
  const auto place = place_of(number);
  return place && place->reg->fields.front().show == pmu::Show::counter;
}

std::unique_ptr<Core> make_core(const pmu::emulated::ArmProfile& profile, bool strict) {
  if (profile.model == &pmu::apple_model) return std::make_unique<Apple>(profile, strict);
  return std::make_unique<PmuV3>(profile);
}

}  // namespace tally::lab::arm
