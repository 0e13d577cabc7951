#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <utility>

#include "programs/doctor/diagnose.hpp"
#include "programs/doctor/host_limits.hpp"
#include "tally/core/base/text.hpp"

namespace tally::doctor {
namespace {

class Group {
 public:
  explicit Group(std::string name) { group_.name = std::move(name); }

  void text(std::string name, const std::string& value) {
    if (value.empty()) return unknown(std::move(name), "not known");
    group_.facts.push_back({std::move(name), printable(value), printable(value)});
  }
  void number(std::string name, std::int64_t value, const std::string& words = {}) {
    group_.facts.push_back({std::move(name), value, words.empty() ? std::to_string(value) : words});
  }
  void number(std::string name, const std::optional<std::int64_t>& value, const std::string& otherwise) {
    if (value) return number(std::move(name), *value);
    unknown(std::move(name), otherwise);
  }
  void flag(std::string name, bool value, const std::string& words = {}) {
    group_.facts.push_back({std::move(name), value, words.empty() ? value ? "yes" : "no" : words});
  }
  void unknown(std::string name, std::string words) { group_.facts.push_back({std::move(name), {}, std::move(words)}); }

  /// The result of a system call: its errno, 0 if it succeeded.
  void answer(std::string name, int os_errno) {
    number(std::move(name), os_errno, os_errno == 0 ? "works" : errno_name(os_errno));
  }

  FactGroup take() { return std::move(group_); }

 private:
  FactGroup group_;
};

std::string frequency_text(const pmu::Frequency& frequency) {
  return fmt::format("{:.5g} MHz ({})", static_cast<double>(frequency.hertz) / 1e6, frequency.source);
}

void add_frequency(Group& group, const char* name, const std::optional<pmu::Frequency>& frequency) {
  if (!frequency) return group.unknown(name, "not announced");
  group.number(name, static_cast<std::int64_t>(frequency->hertz), frequency_text(*frequency));
}

void add_intel_counters(Group& group, const pmu::ArchitecturalPerfmon& perfmon) {
  group.number("perfmon_version", perfmon.version, perfmon.version == 0 ? "0: no counters are announced" : "");
  if (perfmon.version == 0) return;
  group.number("counters", perfmon.counters);
  group.number("counter_width", perfmon.counter_width, fmt::format("{} bits", perfmon.counter_width));
  group.number("fixed_counters", std::popcount(perfmon.fixed_counters));
  group.number("fixed_counter_width", perfmon.fixed_width, fmt::format("{} bits", perfmon.fixed_width));
}

// AMD APM vol. 2, "Performance Monitoring Counters": all core counters have 48 bits. The four oldest are not announced,
// so nothing is reported about them without a PMU in sysfs.
void add_amd_counters(Group& group, const Facts& facts) {
  const pmu::Processor& processor = *facts.processor;
  static constexpr std::array<const char*, 3> words = {"0: no extension is announced", "1: core extension",
                                                       "2: PerfMonV2"};
  group.number("perfmon_version", processor.amd_perfmon, words[static_cast<std::size_t>(processor.amd_perfmon)]);
  if (processor.amd_perfmon == 0 && facts.survey.core_pmus.empty()) return;
  group.number("counters", processor.amd_counters);
  group.number("counter_width", 48, "48 bits");
}

// The frequency from CPUID, else the measured one.
std::optional<pmu::Frequency> time_stamp_frequency(const Facts& facts) {
  if (facts.processor->time_stamp) return facts.processor->time_stamp;
  if (!facts.probes.time_stamp_hertz) return std::nullopt;
  return pmu::Frequency{*facts.probes.time_stamp_hertz, "measured"};
}

FactGroup processor_facts(const Facts& facts) {
  Group group("processor");
  group.text("name", facts.survey.machine.cpu);
  group.text("architecture", facts.survey.machine.architecture);
  if (facts.processor) {
    const pmu::Processor& processor = *facts.processor;
    group.text("vendor", processor.vendor);
    group.number("family", processor.family);
    group.number("model", processor.model);
    group.number("stepping", processor.stepping);
    group.text("microcode", facts.survey.machine.microcode);
    const bool amd = processor.vendor == "AuthenticAMD" || processor.vendor == "HygonGenuine";
    amd ? add_amd_counters(group, facts) : add_intel_counters(group, processor.perfmon);
    if (processor.hybrid) group.flag("hybrid", true, "yes: cores of two kinds");
    add_frequency(group, "base_frequency", processor.base);
    add_frequency(group, "tsc_frequency", time_stamp_frequency(facts));
    group.flag("tsc_invariant", processor.invariant_time_stamp);
  }
  if (const auto& now = facts.frequency)
    group.number(
        "core_frequency", std::llround(now->hertz),
        fmt::format("{:.2f} GHz now ({:.2f} to {:.2f} in 50 ms)", now->hertz / 1e9, now->low / 1e9, now->high / 1e9));
  if (!facts.event_names.empty()) group.text("event_names", "libpfm4's " + facts.event_names);
  if (facts.event_names.empty()) group.unknown("event_names", "libpfm4 does not know this processor");
  group.text("online", facts.survey.online);
  group.text("allowed", facts.survey.allowed);
  return group.take();
}

FactGroup virtualisation_facts(const Facts& facts) {
  const linux::Survey& survey = facts.survey;
  Group group("virtualisation");
  if (facts.processor) {
    if (facts.processor->under_hypervisor) group.text("hypervisor", facts.processor->hypervisor);
    if (!facts.processor->under_hypervisor) group.unknown("hypervisor", "none announced");
  }
  const linux::Firmware& firmware = survey.firmware;
  if (firmware.vendor.empty() && firmware.product.empty()) {
    group.unknown("firmware", "no DMI");
  } else {
    group.text("firmware", trimmed(firmware.vendor + " " + firmware.product));
  }
  if (!firmware.board.empty()) group.text("board", firmware.board);
  if (!firmware.acpi_oem.empty()) group.text("acpi_oem", firmware.acpi_oem);
  if (!survey.xen_pmu_mode.empty()) group.text("xen_pmu_mode", survey.xen_pmu_mode);
  if (!survey.container.empty()) {
    group.text("container",
               fmt::format("{} left {} (so do images made of containers)", survey.container, survey.container_trace));
  }
  return group.take();
}

std::string user_reads_text(std::int64_t mode) {
  switch (mode) {
    case 0: return "0: programs may not read counters themselves";
    case 1: return "1: programs that count may read counters themselves";
    case 2: return "2: every program may read counters itself";
    default: return std::to_string(mode);
  }
}

std::string paranoid_text(std::int64_t level) {
  if (level < 0) return fmt::format("{}: everybody may count everything", level);
  if (level == 0) return "0: everybody may count, except raw tracepoints";
  if (level == 1) return "1: without privilege: own programs, kernel too";
  if (level == 2) return "2: without privilege: own programs, user mode only";
  return fmt::format("{}: without privilege: nothing", level);
}

FactGroup kernel_facts(const Facts& facts) {
  const linux::Survey& survey = facts.survey;
  Group group("kernel");
  group.text("release", survey.machine.kernel);
  std::vector<std::string> cores;
  for (const linux::CorePmu& pmu : survey.core_pmus) {
    cores.push_back(pmu.name + (pmu.cpus.empty() ? "" : " (processors " + pmu.cpus + ")"));
  }
  if (cores.empty()) group.unknown("core_pmus", survey.lists_pmus ? "none" : "not known: no sysfs");
  if (!cores.empty()) group.text("core_pmus", join(cores, ", "));
  for (const linux::CorePmu& pmu : survey.core_pmus) {
    if (pmu.user_reads) group.number(pmu.name + "_rdpmc", *pmu.user_reads, user_reads_text(*pmu.user_reads));
  }
  group.text("other_pmus", join(survey.other_pmus, ", "));
  const auto level = survey.machine.perf_event_paranoid;
  if (level) group.number("perf_event_paranoid", *level, paranoid_text(*level));
  if (!level) group.unknown("perf_event_paranoid", "no such file: no perf in this kernel, or no /proc");
  if (survey.nmi_watchdog) {
    group.number("nmi_watchdog", *survey.nmi_watchdog,
                 *survey.nmi_watchdog == 1 ? "1: it holds a counter of each processor" : "");
  }
  if (survey.perf_user_access) group.number("perf_user_access", *survey.perf_user_access);
  if (survey.mlock_kb) {
    group.number("perf_event_mlock_kb", *survey.mlock_kb, fmt::format("{} KiB", *survey.mlock_kb));
  }
  group.text("clocksource", survey.clocksource);
  return group.take();
}

FactGroup rights_facts(const Facts& facts) {
  const linux::Survey& survey = facts.survey;
  const linux::Probes& probes = facts.probes;
  Group group("rights");
  if (survey.capabilities) {
    group.flag("cap_perfmon", linux::has_capability(survey, linux::cap_perfmon));
    group.flag("cap_sys_admin", linux::has_capability(survey, linux::cap_sys_admin));
  }
  if (survey.seccomp) {
    static constexpr std::array<const char*, 3> words = {"0: no filter of system calls", "1: strict mode",
                                                         "2: a filter of system calls"};
    const auto mode = static_cast<std::size_t>(*survey.seccomp);
    group.number("seccomp", *survey.seccomp, mode < words.size() ? words[mode] : "");
  }
  group.flag("perf_event_open", probes.gate_errno == EINVAL,
             probes.gate_errno == EINVAL ? "reaches the kernel" : "does not: " + errno_name(probes.gate_errno));
  group.answer("hardware_event", probes.cores.front().os_errno);
  group.answer("hardware_event_with_kernel", probes.with_kernel.os_errno);
  group.answer("software_event", probes.software.os_errno);
  group.answer("software_event_user_mode", probes.software_user.os_errno);
  group.answer("whole_processor", probes.whole_processor_errno);
  if (const auto& reads = probes.user_reads) {
    group.flag("user_mode_reads", reads->allowed,
               reads->os_errno != 0 ? "no: the counter's page is not mapped: " + errno_name(reads->os_errno) : "");
  }
  if (survey.open_files) {
    const std::int64_t most = survey.open_files_at_most.value_or(0);
    group.number(
        "open_files", *survey.open_files,
        most > *survey.open_files ? fmt::format("{} (ulimit -n {} allows more)", *survey.open_files, most) : "");
  }
  if (const auto limit = user_mode_counter_limit(survey)) {
    if (limit->counters) group.number("user_mode_counters", *limit->counters, limit->words);
    if (!limit->counters) group.unknown("user_mode_counters", limit->words);
  }
  return group.take();
}

FactGroup engine_facts(const Facts& facts) {
  Group group("engine");
  const auto& counted = facts.trial.instructions;
  group.flag("works", counted.has_value(),
             counted ? fmt::format("yes: it counted {} instructions of `true`", thousands(*counted))
                     : "no: " + printable(facts.trial.problem));
  group.answer("ptrace", facts.probes.trace_errno);
  group.answer("memory_file", facts.probes.memory_file_errno);
  if (facts.survey.yama_ptrace_scope) {
    const std::int64_t scope = *facts.survey.yama_ptrace_scope;
    group.number("yama_ptrace_scope", scope, scope == 3 ? "3: nobody may trace" : "");
  }
  if (!facts.kept_translations.empty()) group.text("kept_translations", facts.kept_translations);
  return group.take();
}

struct Name {
  int os_errno;
  const char* name;
};

constexpr Name names[] = {
    {EPERM, "EPERM"},   {ENOENT, "ENOENT"},         {ESRCH, "ESRCH"},   {E2BIG, "E2BIG"},   {EBADF, "EBADF"},
    {ENOMEM, "ENOMEM"}, {EACCES, "EACCES"},         {EFAULT, "EFAULT"}, {EBUSY, "EBUSY"},   {ENODEV, "ENODEV"},
    {EINVAL, "EINVAL"}, {ENFILE, "ENFILE"},         {EMFILE, "EMFILE"}, {ENOSPC, "ENOSPC"}, {ENOSYS, "ENOSYS"},
    {EIO, "EIO"},       {EOPNOTSUPP, "EOPNOTSUPP"},
};

}  // namespace

std::string errno_name(int os_errno) {
  for (const Name& one : names) {
    if (one.os_errno == os_errno) return one.name;
  }
  return fmt::format("error {}", os_errno);
}

std::vector<FactGroup> describe(const Facts& facts) {
  return {processor_facts(facts), virtualisation_facts(facts), kernel_facts(facts), rights_facts(facts),
          engine_facts(facts)};
}

}  // namespace tally::doctor
