// The register tables of AMD core counters: the four of K7, the six of the core extension, PerfMonV2.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/model.hpp"

namespace tally::pmu {
namespace {

constexpr Source apm{"AMD APM vol. 2 (24593)", "Hardware Performance Monitoring and Control"};
constexpr Source legacy_apm{"AMD APM vol. 2 (24593)", "Legacy performance counters"};
constexpr Source v2{"AMD APM vol. 2 (24593)", "13.2.1, Core Performance Counter Status Registers"};

constexpr Meaning guest_modes[] = {{0, "all"}, {1, "guests only"}, {2, "the host only"}, {3, "all"}};
constexpr Field control[] = {
    bits(7, 0, "event", "event select, bits 11:8 of it at 35:32").continued_at(35, 32),
    bits(15, 8, "umask", "unit mask: which of the event's conditions"),
    flag(16, "USR", "counts at CPL 1 to 3 (user mode)"),
    flag(17, "OS", "counts at CPL 0 (kernel mode)"),
    flag(18, "EDGE", "counts how often the condition begins"),
    flag(20, "INT", "interrupt at overflow"),
    flag(22, "EN", "the counter may count"),
    flag(23, "INV", "inverts the comparison with CNT_MASK"),
    bits(31, 24, "CNT_MASK", "counts cycles with at least this many events; 0 counts events").as(Show::number),
    bits(41, 40, "HOST_GUEST", "whose work is counted under SVM").named(guest_modes),
    flag(43, "PREC_RET", "counts retired events precisely (PERF_CTL2 only; CPUID.80000021H:EAX reports support)"),
};

constexpr Field counter[] = {bits(47, 0, "count", "events counted").as(Show::counter)};

constexpr Field global_control[] = {flag(0, "EN#", "the counter may count").times(16, 1)};
// Figure 13-13 names bits 58 and 59 LBRSF and PMCF.
constexpr Field global_status[] = {
    flag(0, "Ovf#", "the counter has overflowed").times(16, 1),
    flag(58, "LBR_Frz", "the branch records are frozen"),
    flag(59, "PMC_Frz", "the counters are frozen"),
};

// AMD's architectural events, from the processor reference manuals of Zen; event 0C0H and its neighbours mean other
// things on Intel.
constexpr struct {
  std::uint64_t event;
  std::uint64_t umask;
  std::string_view name;
} events[] = {
    {0x76, 0x00, "cycles not in halt"},
    {0xC0, 0x00, "instructions retired"},
    {0xC1, 0x00, "macro-operations retired"},
    {0xC2, 0x00, "branches retired"},
    {0xC3, 0x00, "branch mispredictions retired"},
    {0xC4, 0x00, "taken branches retired"},
};

std::string_view event_name(const Value& value) {
  for (const auto& one : events) {
    if (one.event == get(value, "event") && one.umask == get(value, "umask")) return one.name;
  }
  return {};
}

std::string control_reading(const Value& value, const Slot& slot) {
  return slot.field->name == "event" ? std::string(event_name(value)) : "";
}

std::string control_summary(const Value& value) {
  std::string text = "counts ";
  const std::string_view event = event_name(value);
  text += event.empty() ? fmt::format("event {:03X}H, umask {:02X}H", get(value, "event"), get(value, "umask"))
                        : std::string(event);
  const bool usr = get(value, "USR") != 0;
  const bool os = get(value, "OS") != 0;
  text += usr && os ? ", in user and kernel mode" : usr ? ", in user mode" : os ? ", in kernel mode" : ", in no mode";
  if (get(value, "EN") == 0) text += "; not enabled";
  return text;
}

void never_counts(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "EN") == 0 && value.bits != 0) {
    remarks.push_back({Severity::caution, "EN (bit 22) is 0: the counter does not count", apm});
  }
  if (get(value, "EN") != 0 && get(value, "USR") == 0 && get(value, "OS") == 0) {
    remarks.push_back({Severity::caution, "neither USR nor OS is set: nothing is ever counted", apm});
  }
}

void intel_codes(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "event") == 0xC4 && get(value, "umask") == 0) {
    remarks.push_back({Severity::note, "0C4H is taken branches here; all branches, 0C4H on Intel, are 0C2H", apm});
  }
}

void precise_counter(const Value& value, std::vector<Remark>& remarks) {
  if (get(value, "PREC_RET") == 0 || value.place.index == 2) return;
  remarks.push_back({Severity::caution, "PREC_RET (bit 43) is reserved on every counter but 2", apm});
}

constexpr Register table[] = {
    {.name = "PERF_LEGACY_CTL#",
     .aliases = "MSR_K7_EVNTSEL#",
     .text = "what a counter counts, at the addresses of K7",
     .number = 0xC001'0000,
     .fields = control,
     .source = legacy_apm,
     .reset = "0",
     .count = 4,
     .summary = control_summary,
     .explain = control_reading},
    {.name = "PERF_LEGACY_CTR#",
     .aliases = "MSR_K7_PERFCTR#",
     .text = "counter, at the addresses of K7",
     .number = 0xC001'0004,
     .fields = counter,
     .source = legacy_apm,
     .reset = "0",
     .count = 4},
    {.name = "PERF_CTL#",

     .text = "what a core counter counts",
     .number = 0xC001'0200,
     .fields = control,
     .source = apm,
     .reset = "0",
     .note = "exists where CPUID.80000001H:ECX[23] is set",
     .since = 1,
     .count = 6,
     .stride = 2,
     .summary = control_summary,
     .explain = control_reading},
    {.name = "PERF_CTR#",

     .text = "core counter",
     .number = 0xC001'0201,
     .fields = counter,
     .source = apm,
     .reset = "0",
     .since = 1,
     .count = 6,
     .stride = 2},
    {.name = "IRPERF",
     .aliases = "MSR_F17H_IRPERF",
     .text = "instructions retired, always counting",
     .number = 0xC000'00E9,
     .fields = counter,
     .source = apm,
     .note = "exists where CPUID.80000008H:EBX[1] is set; counts while HWCR[30] is set",
     .since = 1},
    {.name = "PerfCntrGlobalStatus",
     .text = "which counters have overflowed",
     .number = 0xC000'0300,
     .fields = global_status,
     .source = v2,
     .access = Access::read_only,
     .reset = "0",
     .note = "writes are ignored; on Intel they raise #GP(0)",
     .since = 2},
    {.name = "PerfCntrGlobalCtl",
     .text = "which counters may count at all",
     .number = 0xC000'0301,
     .fields = global_control,
     .source = v2,
     .note = "a counter counts where this and its own control allow it",
     .since = 2},
    {.name = "PerfCntrGlobalStatusClr",
     .text = "clears bits of the status",
     .number = 0xC000'0302,
     .fields = global_status,
     .source = v2,
     .access = Access::write_1_to_clear,
     .since = 2},
    {.name = "PerfCntrGlobalStatusSet",
     .text = "sets bits of the status, as overflows would",
     .number = 0xC000'0303,
     .fields = global_status,
     .source = v2,
     .access = Access::write_1_to_set,
     .note = "an overflow set this way raises no interrupt and freezes nothing; Frz bits do freeze",
     .since = 2},
};

constexpr Version versions[] = {{0, "K7"}, {1, "core"}, {2, "v2"}};

constexpr Rule rules[] = {
    {"never-counts", "PERF_LEGACY_CTL#", never_counts},       {"never-counts", "PERF_CTL#", never_counts},
    {"intel-codes", "PERF_LEGACY_CTL#", intel_codes},         {"intel-codes", "PERF_CTL#", intel_codes},
    {"precise-counter", "PERF_LEGACY_CTL#", precise_counter}, {"precise-counter", "PERF_CTL#", precise_counter},
};

}  // namespace

const Model amd_model{"amd", "AMD core performance counters", versions, table, rules};

}  // namespace tally::pmu
