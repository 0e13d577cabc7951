// The registers of IntelPmu: their access rules, and the effects of writes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "programs/lab/pmu/intel_pmu.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::pmu::emulated {
namespace {

enum Msr : std::uint32_t {
  time_stamp_counter = 0x10,
  counter_0 = 0xC1,
  platform_info = 0xCE,
  maximum_clock = 0xE7,
  actual_clock = 0xE8,
  select_0 = 0x186,
  misc_enable = 0x1A0,
  debug_control = 0x1D9,
  fixed_0 = 0x309,
  metrics = 0x329,
  capabilities = 0x345,
  fixed_control = 0x38D,
  global_status = 0x38E,
  global_control = 0x38F,
  status_reset = 0x390,
  status_set = 0x391,
  in_use = 0x392,
  pebs_enable = 0x3F1,
  pebs_data = 0x3F2,
  full_counter_0 = 0x4C1,
  ds_area = 0x600,
  x2apic_vector = 0x834,
};

constexpr int rows = 8;  // registers of a kind in the tables

bool in_row(std::uint32_t index, std::uint32_t first, int count) {
  return index >= first && index < first + static_cast<std::uint32_t>(count);
}

// Registers without rules: clocks, and the local vector, which drops bits that it does not have.
bool is_plain(std::uint32_t index) {
  return index == x2apic_vector || index == time_stamp_counter || index == maximum_clock || index == actual_clock;
}

// WRMSR of IA32_PMCn takes EAX, sign-extended. SDM vol. 3B, "Architectural Performance Monitoring Version 1".
std::uint64_t sign_extended(std::uint64_t value) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(value)));
}

bool is_canonical(std::uint64_t address) {
  const auto top = static_cast<std::int64_t>(address) >> 47;
  return top == 0 || top == -1;
}

Answer fault(std::string why) { return {0, std::move(why)}; }

}  // namespace

bool IntelPmu::owns(std::uint32_t index) {
  switch (index) {
    case time_stamp_counter:
    case platform_info:
    case maximum_clock:
    case actual_clock:
    case misc_enable:
    case debug_control:
    case metrics:
    case capabilities:
    case pebs_enable:
    case pebs_data:
    case ds_area: return true;
    default: break;
  }
  return in_row(index, counter_0, rows) || in_row(index, select_0, rows) || in_row(index, fixed_0, 7) ||
         in_row(index, full_counter_0, rows) || in_row(index, fixed_control, 6);
}

const IntelPmu::ImplementedRegister* IntelPmu::known(std::uint32_t index) const {
  const auto at =
      std::lower_bound(known_.begin(), known_.end(), index,
                       [](const ImplementedRegister& one, std::uint32_t number) { return one.index < number; });
  return at != known_.end() && at->index == index ? &*at : nullptr;
}

Answer IntelPmu::no_such(std::uint32_t index, bool write) const {
  const std::string_view word = write ? "WRMSR" : "RDMSR";
  const auto place = find_register(fmt::format("{:#x}", index), &intel_model);
  if (!place || place->reg->space != Space::msr) {
    return fault(fmt::format("{} of {:X}H: the emulated processor has no such register", word, index));
  }
  const Register& reg = *place->reg;
  const std::string versions = version_text(intel_model, reg.since, reg.until);
  std::string why = reg.note.empty() ? std::string() : fmt::format(" ({})", reg.note);
  if (profile_.version < reg.since || profile_.version > reg.until) {
    why = fmt::format(": it exists {}, this is version {}", versions, profile_.version);
  } else if (reg.needs == Feature::counter || reg.needs == Feature::fixed_counter) {
    why = reg.needs == Feature::counter ? fmt::format(": there are {} general-purpose counters", profile_.counters)
                                        : fmt::format(": there are {} fixed counters", std::popcount(profile_.fixed));
  } else if (!profile_.pebs && (reg.needs == Feature::pebs || reg.needs == Feature::adaptive_pebs)) {
    why = ": PEBS is unavailable, as IA32_MISC_ENABLE[12] reports";
  }
  return fault(fmt::format("{} of {}: {} does not have it{}", word, name(*place), profile_.name, why));
}

std::optional<std::string> IntelPmu::reserved(const ImplementedRegister& known, std::uint64_t value) const {
  if (known.place.reg->others != OtherBits::reserved) return std::nullopt;
  const std::uint64_t wrong = value & ~known.bits;
  if (wrong == 0) return std::nullopt;
  std::string text = fmt::format("{} {} of {} {} reserved", std::popcount(wrong) == 1 ? "bit" : "bits", ranges(wrong),
                                 name(known.place), std::popcount(wrong) == 1 ? "is" : "are");
  for (const Slot& slot : slots(*known.place.reg)) {
    if ((slot.mask() & wrong) == 0) continue;
    text += fmt::format(" ({} is missing on {})", slot.name(), profile_.name);
    break;
  }
  return text;
}

std::uint64_t IntelPmu::in_use() const {
  std::uint64_t bits = 0;
  bool interrupts = false;
  for (int i = 0; i < profile_.counters; ++i) {
    const auto select = intel::decode_event_select(select_[static_cast<std::size_t>(i)]);
    if (select.event != 0) bits |= 1ULL << i;
    interrupts = interrupts || select.interrupt;
  }
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t field = fixed_control_ >> (4 * i) & 0xF;
    if ((field & 3) != 0) bits |= 1ULL << (first_fixed + i);
    interrupts = interrupts || (field & 8) != 0;
  }
  return interrupts ? bits | 1ULL << profile_.in_use_interrupt_bit : bits;
}

Answer IntelPmu::read(std::uint32_t index) const {
  if (index == x2apic_vector) return {apic_.perfmon_vector()};
  if (in_row(index, counter_0, profile_.counters)) return {counter(static_cast<int>(index - counter_0))};
  // The tables have no fields for clocks.
  switch (index) {
    case time_stamp_counter: return {time_stamp_};
    case maximum_clock: return {maximum_};
    case actual_clock: return {actual_};
    default: break;
  }
  const ImplementedRegister* const reg = known(index);
  if (!reg) return no_such(index, false);
  switch (index) {
    case platform_info: return {behaviour_.clock.base << 8};
    case misc_enable: return {misc_enable_};
    case debug_control: return {debug_control_};
    case pebs_enable: return {pebs_enable_};
    case ds_area: return {ds_area_};
    case metrics: return {0};
    case capabilities: return {*profile_.capabilities};
    case fixed_control: return {fixed_control_};
    case global_status: return {status_};
    case global_control: return {global_control_};
    case status_reset:
    case status_set: return {0};
    case emulated::in_use: return {in_use()};
    default: break;
  }
  if (in_row(index, select_0, rows)) return {select_[index - select_0]};
  if (in_row(index, full_counter_0, rows)) return {counter(static_cast<int>(index - full_counter_0))};
  if (in_row(index, fixed_0, 7)) return {counter(first_fixed + static_cast<int>(index - fixed_0))};
  return no_such(index, false);
}

void IntelPmu::write_counter(int number, std::uint64_t value) {
  armed_ &= ~(1ULL << number);
  counters_[static_cast<std::size_t>(number)].value = value & low_ones(profile_.width);
}

std::optional<std::string> IntelPmu::refused(std::uint32_t index, std::uint64_t value) const {
  if (is_plain(index)) return std::nullopt;
  const ImplementedRegister* const reg = known(index);
  if (!reg) return no_such(index, true).fault;
  if (reg->place.reg->access == Access::read_only) {
    return fmt::format("WRMSR of {}: it is read-only", name(reg->place));
  }
  // The value of EDX is ignored.
  if (in_row(index, counter_0, rows)) return std::nullopt;
  if (in_row(index, fixed_0, 7) && profile_.fixed_write == WideWrite::truncates) return std::nullopt;
  if (index == ds_area && !is_canonical(value)) {
    return fmt::format("WRMSR of {}: {:X}H is not a canonical address", name(reg->place), value);
  }
  return reserved(*reg, value);
}

void IntelPmu::apply(std::uint32_t index, std::uint64_t value) {
  switch (index) {
    case x2apic_vector: apic_.set_perfmon_vector(static_cast<std::uint32_t>(value)); return;
    case time_stamp_counter: time_stamp_ = value; return;
    case maximum_clock: maximum_ = value; return;
    case actual_clock: actual_ = value; return;
    case debug_control: debug_control_ = value; return;
    case ds_area: ds_area_ = value; return;
    case pebs_enable:
      pebs_enable_ = value;
      armed_ &= value;
      return;
    case fixed_control: fixed_control_ = value; break;
    case global_control: global_control_ = value; break;
    case status_reset: status_ &= ~value; break;
    case status_set: status_ |= value; break;
    default: break;
  }
  if (in_row(index, counter_0, rows)) write_counter(static_cast<int>(index - counter_0), sign_extended(value));
  if (in_row(index, full_counter_0, rows)) write_counter(static_cast<int>(index - full_counter_0), value);
  if (in_row(index, fixed_0, 7)) write_counter(first_fixed + static_cast<int>(index - fixed_0), value);
  if (in_row(index, select_0, rows)) select_[index - select_0] = value;
  choose_events();
}

Answer IntelPmu::write(std::uint32_t index, std::uint64_t value) {
  if (auto why = refused(index, value)) return fault(std::move(*why));
  apply(index, value);
  return {};
}

Answer IntelPmu::rdmsr(std::uint32_t index, int cpl, const Work& work) {
  if (cpl > 0) return fault("RDMSR requires CPL 0");
  Answer access = read(index);
  if (access) retire(work, cpl);
  return access;
}

Answer IntelPmu::wrmsr(std::uint32_t index, std::uint64_t value, int cpl, const Work& work) {
  if (cpl > 0) return fault("WRMSR requires CPL 0");
  if (auto why = refused(index, value)) return fault(std::move(*why));
  retire(work, cpl);
  apply(index, value);
  return {};
}

Answer IntelPmu::rdpmc(std::uint32_t ecx, int cpl, bool user_may, const Work& work) {
  if (cpl > 0 && !user_may) return fault("RDPMC at CPL > 0 while CR4.PCE is 0");
  const std::uint32_t number = ecx & 0xFFFF;
  const std::uint32_t type = ecx >> 16;
  Answer access;
  if (type == 0 && number < static_cast<std::uint32_t>(profile_.counters)) {
    access.value = counter(static_cast<int>(number));
  } else if (type == 0x4000 && number < 4 && profile_.version >= 2 && profile_.has_fixed(static_cast<int>(number))) {
    access.value = counter(first_fixed + static_cast<int>(number));
  } else if (type == 0x2000 && number == 0 && profile_.has_capability(15)) {
    access.value = 0;
  } else {
    return fault(fmt::format("RDPMC with ECX = {:#x}: there is no such counter", ecx));
  }
  retire(work, cpl);
  return access;
}

}  // namespace tally::pmu::emulated
