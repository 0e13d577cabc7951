// The register tables of Apple's M1, reverse-engineered by others; Apple does not document them.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/model.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::pmu {
namespace {

constexpr Source asahi{"Asahi Linux documentation", "HW: ARM System Registers"};
constexpr Source linux_header{"Linux", "arch/arm64/include/asm/apple_m1_pmu.h"};
constexpr Source linux_47{"Linux", "drivers/perf/apple_m1_cpu_pmu.c, ARMPMU_EVT_47BIT"};

constexpr Meaning modes[] = {{0, "off"}, {1, "PMI"}, {2, "AIC"}, {3, "HALT"}, {4, "FIQ"}};

constexpr Field control[] = {
    flag(0, "EN#", "the counter is on").times(8, 1),
    bits(10, 8, "MODE", "what an overflow raises").named(modes),
    flag(11, "IACT", "an interrupt is active; writing 0 lets the next one come"),
    flag(12, "PMI#", "the counter may interrupt").times(8, 1),
    flag(20, "STOP", "all counters stop at an interrupt"),
    flag(22, "DEFER", "interrupts wait until after ERET"),
    flag(23, "L2C", "counts the L2 events of the cluster, not of the core"),
    flag(30, "EL0", "EL0 may use the registers"),
    flag(32, "EN#", "the counter is on").times(2, 1, 8),
    flag(44, "PMI#", "the counter may interrupt").times(2, 1, 8),
};

constexpr Field levels[] = {
    flag(0, "A32_EL0_#", "counts EL0 in AArch32, which the M1 does not have").times(8, 1),
    flag(8, "EL0_#", "counts EL0").times(8, 1),
    flag(16, "EL1_#", "counts EL1").times(8, 1),
    flag(24, "EL3_#", "counts EL3, which the M1 does not have").times(8, 1),
    flag(32, "A32_EL0_#", "counts EL0 in AArch32").times(2, 1, 8),
    flag(40, "EL0_#", "counts EL0").times(2, 1, 8),
    flag(48, "EL1_#", "counts EL1").times(2, 1, 8),
    flag(56, "EL3_#", "counts EL3").times(2, 1, 8),
};

constexpr Field events_2_to_5[] = {bits(7, 0, "PMC#", "event of the counter").times(4, 8, 2)};
constexpr Field events_6_to_9[] = {bits(7, 0, "PMC#", "event of the counter").times(4, 8, 6)};
constexpr Field status[] = {flag(0, "Ovf#", "the counter has overflowed").times(10, 1)};
constexpr Field count[] = {
    bits(47, 0, "count", "overflows at bit 47; 64 bits on the M2, which overflow at bit 63").as(Show::counter),
    bits(63, 48, "upper", "upper bits of the count").from(2),
};
constexpr Field uncore_count[] = {bits(47, 0, "count", "overflows at bit 47").as(Show::counter)};
constexpr Field unknown[] = {bits(63, 0, "value", "its bits are not known in detail")};

constexpr Field uncore_control[] = {
    flag(0, "EN#", "the counter is on").times(16, 1),
    bits(18, 16, "MODE", "what an overflow raises").named(modes),
    flag(20, "PMI#", "the counter may interrupt").times(16, 1),
};
constexpr Field uncore_cores[] = {flag(0, "CORE#", "the core gets the interrupt").times(8, 1)};
constexpr Field uncore_status[] = {
    flag(0, "PMI", "uncore interrupt"),
    flag(1, "CTI", "cross-trigger interrupt"),
    flag(2, "Ovf#", "the counter has overflowed").times(16, 1),
};

// Joins the bits of counters 0 to 7 and 8 to 9, which are separate, to one mask of counters.
std::uint64_t both_parts(std::uint64_t value, int low_bit, int high_bit) {
  return (value >> low_bit & 0xFF) | (value >> high_bit & 3) << 8;
}

std::string control_summary(const Value& value) {
  const std::uint64_t on = both_parts(value.bits, 0, 32);
  const std::uint64_t interrupting = both_parts(value.bits, 12, 44);
  std::string text = on == 0 ? "no counter is on" : fmt::format("counters {} are on", ranges(on));
  const std::uint64_t mode = get(value, "MODE");
  text += fmt::format("; interrupt mode {}", mode < std::size(modes) ? modes[mode].text : "unknown");
  text += interrupting == 0 ? "; no counter interrupts" : fmt::format("; counters {} interrupt", ranges(interrupting));
  return text + (get(value, "EL0") != 0 ? "; EL0 may use the registers" : "; only EL1 may use the registers");
}

std::string levels_summary(const Value& value) {
  const std::uint64_t el0 = both_parts(value.bits, 8, 40);
  const std::uint64_t el1 = both_parts(value.bits, 16, 48);
  return fmt::format("EL0: {}; EL1: {}", el0 == 0 ? "no counter" : "counters " + ranges(el0),
                     el1 == 0 ? "no counter" : "counters " + ranges(el1));
}

std::string event_reading(const Value& value, const Slot& slot) {
  const auto code = static_cast<std::uint8_t>(slot.of(value.bits));
  const apple::Event* event = apple::find_event(code);
  if (!event) return code == 0 ? "none" : "an unknown event";
  if (event->linux_name.empty()) return fmt::format("{} (M1 framework)", event->framework_name);
  if (event->framework_name.empty()) return fmt::format("{} (Linux)", event->linux_name);
  return fmt::format("{} (Linux), {} (M1 framework)", event->linux_name, event->framework_name);
}

std::string count_reading(const Value& value, const Slot& slot) {
  const std::uint64_t number = slot.of(value.bits);
  const std::uint64_t end = 1ULL << 47;
  // The M2 counts beyond bit 47.
  if (slot.field->name != "count" || value.version.value_or(1) > 1 || number <= end / 2) return {};
  if (number >= end) return "bit 47 is set: overflowed";
  return fmt::format("2^47 - {}: overflows after {} events more", end - number,
                     thousands(static_cast<std::int64_t>(end - number)));
}

void interrupts(const Value& value, std::vector<Remark>& remarks) {
  const std::uint64_t interrupting = both_parts(value.bits, 12, 44);
  if (interrupting != 0 && get(value, "MODE") == 0) {
    remarks.push_back(
        {Severity::caution, "counters may interrupt, but the mode is off: an overflow raises nothing", asahi});
  }
  if (const std::uint64_t off = interrupting & ~both_parts(value.bits, 0, 32); off != 0) {
    remarks.push_back({Severity::note, fmt::format("counters {} may interrupt and are not on", ranges(off)), asahi});
  }
  if (get(value, "MODE") == 3) {
    remarks.push_back({Severity::caution, "HALT: an overflow halts the core", asahi});
  }
  if (get(value, "IACT") != 0) {
    remarks.push_back({Severity::note, "IACT holds back the next interrupt until it is written 0", asahi});
  }
  if (interrupting != 0 && get(value, "MODE") != 0) {
    remarks.push_back({Severity::note,
                       "a counter interrupts when its bit 47 becomes set: loading 2^47 - N samples every N events. The "
                       "M1 framework wrongly states that sampling is impossible on the M1",
                       linux_47});
  }
}

void two_places(const Value& value, std::vector<Remark>& remarks) {
  if ((value.bits >> 21 & 1) != 0) {
    remarks.push_back(
        {Severity::caution,
         "bit 21: Linux's header has the L2 events of the cluster here; Asahi and the M1 framework in bit 23",
         linux_header});
  }
}

void affinity(const Value& value, std::vector<Remark>& remarks) {
  for (const Slot& slot : slots(*value.place.reg, value.version)) {
    const apple::Event* event = apple::find_event(static_cast<std::uint8_t>(slot.of(value.bits)));
    const int counter = slot.field->first + slot.index;
    if (!event || (event->counters >> counter & 1) != 0) continue;
    const bool is_observed = (event->observed >> counter & 1) != 0;
    remarks.push_back(
        {is_observed ? Severity::note : Severity::caution,
         fmt::format("event {:02X}H is counted by PMC {} in Linux's driver{}", event->code, ranges(event->counters),
                     is_observed ? fmt::format("; others saw it on {}", ranges(event->observed))
                                 : fmt::format(", not by PMC {}: it stays 0 there", counter)),
         is_observed ? apple::observations : apple::linux_driver});
  }
}

void second_register(const Value&, std::vector<Remark>& remarks) {
  remarks.push_back(
      {Severity::note,
       "PMC6 to 9 are in PMESR1 (S3_1_C15_C6_0). The M1 framework prints PMESR0 for both, and its code writes "
       "PMESR0 twice: it never programs them",
       apple::framework});
}

constexpr auto system = Space::system_register;

constexpr Register table[] = {
    {.name = "PMCR0_EL1",
     .text = "control: counters on, interrupts, EL0",
     .space = system,
     .number = system_register(3, 1, 15, 0, 0),
     .fields = control,
     .source = asahi,
     .note = "takes effect after an ISB, like every control register of this core",
     .summary = control_summary},
    {.name = "PMCR1_EL1",
     .text = "at which exception levels counters count",
     .space = system,
     .number = system_register(3, 1, 15, 1, 0),
     .fields = levels,
     .source = asahi,
     .summary = levels_summary},
    {.name = "PMCR2_EL1",
     .text = "watchpoints",
     .space = system,
     .number = system_register(3, 1, 15, 2, 0),
     .fields = unknown,
     .source = asahi},
    {.name = "PMCR3_EL1",
     .text = "breakpoints and address match",
     .space = system,
     .number = system_register(3, 1, 15, 3, 0),
     .fields = unknown,
     .source = asahi},
    {.name = "PMCR4_EL1",
     .text = "opcode match",
     .space = system,
     .number = system_register(3, 1, 15, 4, 0),
     .fields = unknown,
     .source = asahi},
    {.name = "PMESR0_EL1",
     .text = "events of PMC2 to 5",
     .space = system,
     .number = system_register(3, 1, 15, 5, 0),
     .fields = events_2_to_5,
     .source = linux_header,
     .explain = event_reading},
    {.name = "PMESR1_EL1",
     .text = "events of PMC6 to 9",
     .space = system,
     .number = system_register(3, 1, 15, 6, 0),
     .fields = events_6_to_9,
     .source = linux_header,
     .explain = event_reading},
    {.name = "PMSR_EL1",
     .text = "which counters have overflowed",
     .space = system,
     .number = system_register(3, 1, 15, 13, 0),
     .fields = status,
     .source = linux_header},
    {.name = "PMC#",
     .aliases = "PMC#_EL1",
     .text = "counter: 0 cycles, 1 instructions, 2 to 7 an event",
     .space = system,
     .number = system_register(3, 2, 15, 0, 0),
     .fields = count,
     .source = linux_header,
     .count = 8,
     .stride = 8,
     .explain = count_reading},
    {.name = "PMC#",
     .aliases = "PMC#_EL1",
     .text = "counter of an event",
     .space = system,
     .number = system_register(3, 2, 15, 9, 0),
     .fields = count,
     .source = linux_header,
     .note = "there is no C8 between PMC7 (C7) and PMC8 (C9)",
     .count = 2,
     .stride = 8,
     .first = 8,
     .explain = count_reading},
    {.name = "UPMCR0",
     .text = "uncore control",
     .space = system,
     .number = system_register(3, 7, 15, 0, 4),
     .fields = uncore_control,
     .source = asahi},
    {.name = "UPMESR0",
     .text = "uncore events",
     .space = system,
     .number = system_register(3, 7, 15, 1, 4),
     .fields = unknown,
     .source = asahi},
    {.name = "UPMESR1",
     .text = "uncore events",
     .space = system,
     .number = system_register(3, 7, 15, 11, 5),
     .fields = unknown,
     .source = asahi},
    {.name = "UPMECM#",
     .text = "the cores whose events the uncore counters count",
     .space = system,
     .number = system_register(3, 7, 15, 3, 4),
     .fields = unknown,
     .source = asahi,
     .count = 2,
     .stride = 8},
    {.name = "UPMECM#",
     .text = "the cores whose events the uncore counters count",
     .space = system,
     .number = system_register(3, 7, 15, 8, 5),
     .fields = unknown,
     .source = asahi,
     .count = 2,
     .stride = 8,
     .first = 2},
    {.name = "UPMPCM",
     .text = "which cores get the uncore interrupt",
     .space = system,
     .number = system_register(3, 7, 15, 5, 4),
     .fields = uncore_cores,
     .source = asahi},
    {.name = "UPMSR",
     .text = "uncore interrupts and overflows",
     .space = system,
     .number = system_register(3, 7, 15, 6, 4),
     .fields = uncore_status,
     .source = asahi},
    {.name = "UPMC#",
     .text = "uncore counter",
     .space = system,
     .number = system_register(3, 7, 15, 7, 4),
     .fields = uncore_count,
     .source = asahi,
     .count = 8,
     .stride = 8},
    {.name = "UPMC#",
     .text = "uncore counter",
     .space = system,
     .number = system_register(3, 7, 15, 0, 5),
     .fields = uncore_count,
     .source = asahi,
     .count = 8,
     .stride = 8,
     .first = 8},
};

constexpr Version versions[] = {{1, "M1"}, {2, "M2"}};

constexpr Rule rules[] = {
    {"interrupts", "PMCR0_EL1", interrupts},
    {"two-places", "PMCR0_EL1", two_places},
    {"affinity", "PMESR0_EL1", affinity},
    {"affinity", "PMESR1_EL1", affinity},
    {"second-register", "PMESR0_EL1", second_register},
    {"second-register", "PMESR1_EL1", second_register},
};

}  // namespace

const Model apple_model{"apple", "Apple M1", versions, table, rules};

}  // namespace tally::pmu
