// The register tables of Arm PMUv3 in AArch64.
#include <fmt/format.h>

#include <algorithm>

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/model.hpp"
#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

constexpr Source manual{"Arm ARM (DDI 0487)", "AArch64 System register descriptions, Performance Monitors registers"};
constexpr Source monitors{"Arm ARM (DDI 0487)", "The Performance Monitors Extension"};
constexpr Source debug_features{"Arm ARM (DDI 0487)", "ID_AA64DFR0_EL1"};

// Values of ID_AA64DFR0_EL1.PMUVer.
constexpr int p1 = 4, p4 = 5, p5 = 6, p7 = 7, p9 = 9;
constexpr Version versions[] = {{1, "PMUv3"},    {p1, "PMUv3p1"}, {p4, "PMUv3p4"}, {p5, "PMUv3p5"},
                                {p7, "PMUv3p7"}, {8, "PMUv3p8"},  {p9, "PMUv3p9"}};

constexpr Field control[] = {
    flag(0, "E", "enables all counters"),
    flag(1, "P", "writing 1 resets the event counters; reads 0").may(Access::write_1_to_set),
    flag(2, "C", "writing 1 resets the cycle counter; reads 0").may(Access::write_1_to_set),
    flag(3, "D", "the cycle counter counts every 64th cycle; ignored where LC is set"),
    flag(4, "X", "exports events to outside of the core"),
    flag(5, "DP", "the cycle counter does not count where event counting is prohibited"),
    flag(6, "LC", "the cycle counter overflows at bit 63 instead of 31"),
    flag(7, "LP", "event counters overflow at bit 63 instead of 31").from(p5),
    flag(9, "FZO", "an overflow freezes the event counters").from(p7),
    bits(15, 11, "N", "event counters").as(Show::number).may(Access::read_only),
    bits(23, 16, "IDCODE", "identification").may(Access::read_only),
    bits(31, 24, "IMP", "implementer").may(Access::read_only),
    flag(32, "FZS", "a profiling sample freezes the event counters").from(p7),
};

constexpr Field counters[] = {
    flag(0, "P#", "event counter").times(31, 1),
    flag(31, "C", "cycle counter"),
    flag(32, "F0", "instruction counter").from(p9),
};
constexpr Field software_increment[] = {flag(0, "P#", "adds 1 to the counter, if it counts event 00H").times(31, 1)};
constexpr Field selection[] = {
    bits(4, 0, "SEL", "counter that PMXEVTYPER and PMXEVCNTR reach; 31: PMCCFILTR").as(Show::number)};
constexpr Field common_events_0[] = {
    flag(0, "ID_00_#", "event of this number exists (0 to 31)").times(32, 1),
    flag(32, "ID_4000_#", "event 4000H plus this number exists").times(32, 1).from(p1)};
constexpr Field common_events_1[] = {
    flag(0, "ID_20_#", "event 20H plus this number exists").times(32, 1),
    flag(32, "ID_4020_#", "event 4020H plus this number exists").times(32, 1).from(p1)};
constexpr Field whole[] = {bits(63, 0, "count", "64 bits").as(Show::counter)};
constexpr Field event_count[] = {bits(63, 0, "count", "32 bits; 64 since PMUv3p5").as(Show::counter)};
constexpr Field user_enable[] = {
    flag(0, "EN", "EL0 may use all of these registers"),
    flag(1, "SW", "EL0 may write PMSWINC"),
    flag(2, "CR", "EL0 may read the cycle counter"),
    flag(3, "ER", "EL0 may read the event counters, and write PMSELR"),
    flag(4, "UEN", "PMUACR selects which counters EL0 may use").from(p9),
    flag(5, "IR", "EL0 may read the instruction counter").from(p9),
    flag(6, "TID", "EL0 may not read PMCEID0 and PMCEID1").from(p9),
};
constexpr Field machine[] = {
    bits(7, 0, "SLOTS", "operations that may be counted by STALL_SLOT in a cycle").as(Show::number),
    bits(15, 8, "BUS_SLOTS", "highest count of BUS_ACCESS in a cycle").as(Show::number),
    bits(19, 16, "BUS_WIDTH", "log2 of the bus width in bytes, plus 1").as(Show::number),
    bits(23, 20, "THWIDTH", "bits of a threshold").as(Show::number).from(8),
    bits(27, 24, "EDGE", "edge detection").as(Show::number).from(8),
};

constexpr Meaning common_events[] = {
    {0x00, "SW_INCR"},          {0x01, "L1I_CACHE_REFILL"},
    {0x03, "L1D_CACHE_REFILL"}, {0x04, "L1D_CACHE"},
    {0x08, "INST_RETIRED"},     {0x10, "BR_MIS_PRED"},
    {0x11, "CPU_CYCLES"},       {0x13, "MEM_ACCESS"},
    {0x1B, "INST_SPEC"},        {0x1E, "CHAIN"},
    {0x21, "BR_RETIRED"},       {0x23, "STALL_FRONTEND"},
    {0x24, "STALL_BACKEND"},    {0x3C, "STALL"},
};
constexpr Field event_type[] = {
    bits(15, 0, "event", "event number; bits 15:10 since PMUv3p1").named(common_events),
    flag(24, "SH", "different from NSH: counts Secure EL2").from(5),
    flag(26, "M", "equal to P: counts EL3"),
    flag(27, "NSH", "counts EL2"),
    flag(28, "NSU", "equal to U: counts Non-secure EL0"),
    flag(29, "NSK", "equal to P: counts Non-secure EL1"),
    flag(30, "U", "does not count EL0"),
    flag(31, "P", "does not count EL1"),
    bits(43, 32, "TH", "threshold").as(Show::number).from(8),
    flag(60, "TE", "counts edges of the threshold's condition").from(8),
    bits(63, 61, "TC", "how the count of a cycle is compared with TH").from(8),
};
constexpr Field cycle_filter[] = {
    flag(24, "SH", "different from NSH: counts Secure EL2").from(5),
    flag(26, "M", "equal to P: counts EL3"),
    flag(27, "NSH", "counts EL2"),
    flag(28, "NSU", "equal to U: counts Non-secure EL0"),
    flag(29, "NSK", "equal to P: counts Non-secure EL1"),
    flag(30, "U", "does not count EL0"),
    flag(31, "P", "does not count EL1"),
};

constexpr Meaning pmu_versions[] = {{0, "none"},    {1, "PMUv3"},   {4, "PMUv3p1"}, {5, "PMUv3p4"},   {6, "PMUv3p5"},
                                    {7, "PMUv3p7"}, {8, "PMUv3p8"}, {9, "PMUv3p9"}, {15, "not PMUv3"}};
constexpr Field features[] = {bits(11, 8, "PMUVer", "version of the PMU").named(pmu_versions)};

std::string control_summary(const Value& value) {
  std::string text = get(value, "E") != 0 ? "counters may count" : "no counter counts";
  if (get(value, "N") != 0) text += fmt::format("; {} event counters", get(value, "N"));
  if (get(value, "P") != 0) text += "; resets the event counters";
  if (get(value, "C") != 0) text += "; resets the cycle counter";
  return text;
}

// "EL1", "Secure EL1", "Non-secure EL1"; empty if neither is counted.
std::string level_text(std::string_view level, bool secure, bool non_secure) {
  if (!secure && !non_secure) return {};
  return fmt::format("{}{}", secure && non_secure ? "" : secure ? "Secure " : "Non-secure ", level);
}

// The exception levels that are counted, by the rules of the fields U, P, NSU, NSK, NSH, SH and M.
std::string levels_text(const Value& value) {
  const bool u = get(value, "U") != 0, p = get(value, "P") != 0, nsh = get(value, "NSH") != 0;
  const bool sh = get(value, "SH") != 0;
  std::vector<std::string> levels{level_text("EL0", !u, (get(value, "NSU") != 0) == u),
                                  level_text("EL1", !p, (get(value, "NSK") != 0) == p),
                                  level_text("EL2", sh != nsh, nsh)};
  std::erase(levels, "");
  const bool el3 = (get(value, "M") != 0) == p;
  if (levels.empty()) return el3 ? "at EL3" : "at no exception level";
  const std::string last = levels.back();
  levels.pop_back();
  return fmt::format("at {}{}{}{}", join(levels, ", "), levels.empty() ? "" : " and ", last, el3 ? " (and EL3)" : "");
}

// Which level a filter bit includes or excludes, given the other bits.
std::string filter_reading(const Value& value, const Slot& slot) {
  const std::string_view field = slot.field->name;
  const bool set = slot.of(value.bits) != 0;
  const auto counts = [](bool counted, std::string_view level) {
    return fmt::format("{} {}", counted ? "counts" : "does not count", level);
  };
  const auto compared = [&](std::string_view with, bool same_counts, std::string_view level) {
    const bool same = set == (get(value, with) != 0);
    return fmt::format("{} {}: {}", same ? "equal to" : "different from", with, counts(same == same_counts, level));
  };
  if (field == "P") return counts(!set, get(value, "NSK") == 0 ? "EL1" : "Secure EL1");
  if (field == "U") return counts(!set, get(value, "NSU") == 0 ? "EL0" : "Secure EL0");
  if (field == "NSK") return compared("P", true, "Non-secure EL1");
  if (field == "NSU") return compared("U", true, "Non-secure EL0");
  if (field == "NSH") return counts(set, get(value, "SH") == 0 ? "EL2" : "Non-secure EL2");
  if (field == "M") return compared("P", true, "EL3");
  if (field == "SH") return compared("NSH", false, "Secure EL2");
  return {};
}

std::string filter_summary(const Value& value) { return "counts " + levels_text(value); }

std::string event_type_summary(const Value& value) {
  const std::uint64_t event = get(value, "event");
  const auto named = std::find_if(std::begin(common_events), std::end(common_events),
                                  [&](const Meaning& meaning) { return meaning.value == event; });
  const std::string name =
      named != std::end(common_events) ? std::string(named->text) : fmt::format("event {:#x}", event);
  return fmt::format("counts {} {}", name, levels_text(value));
}

std::string counters_summary(const Value& value) {
  std::vector<std::string> parts;
  if (const std::uint64_t events = value.bits & low_ones(31); events != 0)
    parts.push_back("event counters " + ranges(events));
  if (get(value, "C") != 0) parts.emplace_back("the cycle counter");
  return parts.empty() ? "no counter" : join(parts, " and ");
}

void excludes(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "U") != 0 || get(value, "P") != 0) {
    remarks.push_back(
        {Severity::note,
         "U and P exclude a level, where Intel's USR and OS include it: a filter copied from there counts the "
         "opposite",
         monitors});
  }
}

void chain(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "event") == 0x1E && value.place.index % 2 == 0) {
    remarks.push_back(
        {Severity::wrong, "CHAIN counts the overflows of the counter before it, on odd counters only", monitors});
  }
}

void resets_only(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "P") != 0 && get(value, "C") == 0) {
    remarks.push_back(
        {Severity::note, "P resets the event counters; the cycle counter and all overflow flags stay", monitors});
  }
  if (get(value, "C") != 0) {
    remarks.push_back({Severity::note, "C resets the cycle counter, and no overflow flag", monitors});
  }
  if (get(value, "D") != 0 && get(value, "LC") != 0) {
    remarks.push_back({Severity::note, "D has no effect while LC is set", monitors});
  }
}

constexpr auto system = Space::system_register;
constexpr std::string_view unknown_reset = "unknown";

constexpr Register table[] = {
    {.name = "PMCR_EL0",
     .text = "control of all counters",
     .space = system,
     .number = system_register(3, 3, 9, 12, 0),
     .fields = control,
     .source = manual,
     .reset = "E = 0, the rest unknown",
     .summary = control_summary},
    {.name = "PMCNTENSET_EL0",
     .text = "enables counters; reads which are enabled",
     .space = system,
     .number = system_register(3, 3, 9, 12, 1),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_set,
     .reset = unknown_reset,
     .summary = counters_summary},
    {.name = "PMCNTENCLR_EL0",
     .text = "disables counters; reads which are enabled",
     .space = system,
     .number = system_register(3, 3, 9, 12, 2),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_clear,
     .reset = unknown_reset,
     .summary = counters_summary},
    {.name = "PMOVSCLR_EL0",
     .text = "clears overflow flags; reads them",
     .space = system,
     .number = system_register(3, 3, 9, 12, 3),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_clear,
     .reset = unknown_reset,
     .summary = counters_summary},
    {.name = "PMSWINC_EL0",
     .text = "increments counters by software",
     .space = system,
     .number = system_register(3, 3, 9, 12, 4),
     .fields = software_increment,
     .source = manual,
     .access = Access::write_only},
    {.name = "PMSELR_EL0",
     .text = "selects a counter",
     .space = system,
     .number = system_register(3, 3, 9, 12, 5),
     .fields = selection,
     .source = manual,
     .reset = unknown_reset},
    {.name = "PMCEID0_EL0",
     .text = "which common events exist, 00H to 1FH and 4000H to 401FH",
     .space = system,
     .number = system_register(3, 3, 9, 12, 6),
     .fields = common_events_0,
     .source = manual,
     .access = Access::read_only},
    {.name = "PMCEID1_EL0",
     .text = "which common events exist, 20H to 3FH and 4020H to 403FH",
     .space = system,
     .number = system_register(3, 3, 9, 12, 7),
     .fields = common_events_1,
     .source = manual,
     .access = Access::read_only},
    {.name = "PMCCNTR_EL0",
     .text = "cycle counter",
     .space = system,
     .number = system_register(3, 3, 9, 13, 0),
     .fields = whole,
     .source = manual,
     .reset = unknown_reset},
    {.name = "PMXEVTYPER_EL0",
     .text = "what the selected counter counts",
     .space = system,
     .number = system_register(3, 3, 9, 13, 1),
     .fields = event_type,
     .source = manual,
     .reset = unknown_reset,
     .summary = event_type_summary,
     .explain = filter_reading},
    {.name = "PMXEVCNTR_EL0",
     .text = "the selected counter",
     .space = system,
     .number = system_register(3, 3, 9, 13, 2),
     .fields = event_count,
     .source = manual,
     .reset = unknown_reset},
    {.name = "PMUSERENR_EL0",
     .text = "what EL0 may do; EL0 may read it",
     .space = system,
     .number = system_register(3, 3, 9, 14, 0),
     .fields = user_enable,
     .source = manual,
     .reset = unknown_reset,
     .note = "an access that is not allowed traps to EL1"},
    {.name = "PMOVSSET_EL0",
     .text = "sets overflow flags; reads them",
     .space = system,
     .number = system_register(3, 3, 9, 14, 3),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_set,
     .reset = unknown_reset,
     .note = "software can raise the interrupt this way",
     .summary = counters_summary},
    {.name = "PMINTENSET_EL1",
     .text = "enables overflow interrupts",
     .space = system,
     .number = system_register(3, 0, 9, 14, 1),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_set,
     .reset = unknown_reset,
     .summary = counters_summary},
    {.name = "PMINTENCLR_EL1",
     .text = "disables overflow interrupts",
     .space = system,
     .number = system_register(3, 0, 9, 14, 2),
     .fields = counters,
     .source = manual,
     .access = Access::write_1_to_clear,
     .reset = unknown_reset,
     .summary = counters_summary},
    {.name = "PMMIR_EL1",
     .text = "what the machine can count in a cycle",
     .space = system,
     .number = system_register(3, 0, 9, 14, 6),
     .fields = machine,
     .source = manual,
     .access = Access::read_only,
     .since = p4},
    {.name = "PMEVCNTR#_EL0",
     .text = "event counter",
     .space = system,
     .number = system_register(3, 3, 14, 8, 0),
     .fields = event_count,
     .source = manual,
     .reset = unknown_reset,
     .note = "beyond PMCR_EL0.N: constrained unpredictable",
     .count = 31},
    {.name = "PMEVTYPER#_EL0",
     .text = "what an event counter counts",
     .space = system,
     .number = system_register(3, 3, 14, 12, 0),
     .fields = event_type,
     .source = manual,
     .reset = unknown_reset,
     .note = "beyond PMCR_EL0.N: constrained unpredictable",
     .count = 31,
     .summary = event_type_summary,
     .explain = filter_reading},
    {.name = "PMCCFILTR_EL0",
     .text = "the exception levels at which the cycle counter counts",
     .space = system,
     .number = system_register(3, 3, 14, 15, 7),
     .fields = cycle_filter,
     .source = manual,
     .reset = unknown_reset,
     .summary = filter_summary,
     .explain = filter_reading},
    {.name = "ID_AA64DFR0_EL1",
     .text = "debug features; here: the version of the PMU",
     .space = system,
     .number = system_register(3, 0, 0, 5, 0),
     .fields = features,
     .source = debug_features,
     .access = Access::read_only,
     .others = OtherBits::other_uses},
};

constexpr Rule rules[] = {
    {"excludes", "PMEVTYPER#_EL0", excludes}, {"excludes", "PMXEVTYPER_EL0", excludes},
    {"excludes", "PMCCFILTR_EL0", excludes},  {"chain", "PMEVTYPER#_EL0", chain},
    {"resets-only", "PMCR_EL0", resets_only},
};

}  // namespace

const Model arm_model{"arm", "Arm PMUv3 (AArch64)", versions, table, rules};

}  // namespace tally::pmu
