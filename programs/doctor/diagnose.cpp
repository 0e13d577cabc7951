#include "programs/doctor/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "programs/doctor/countable.hpp"
#include "programs/doctor/host_limits.hpp"
#include "programs/doctor/hosts.hpp"
#include "tally/core/base/text.hpp"

namespace tally::doctor {
namespace {

using linux::Attempt;

// The result of one attempt to count instructions.
enum class Answer { counts, too_few, never_ran, refused };

Answer answer_of(const Attempt& attempt) {
  if (attempt.os_errno != 0 || !attempt.counted) return Answer::refused;
  if (attempt.counted->running.count() == 0) return Answer::never_ran;
  return std::cmp_less(attempt.counted->value, linux::trial_loop) ? Answer::too_few : Answer::counts;
}

// The answer of the survey's PMU `index`. A PMU that counts a long loop correctly may count another event wrongly: then
// `auto` does not use it either.
Answer answer_of(const linux::Probes& probes, std::size_t index) {
  const Answer answer = answer_of(probes.cores[index]);
  if (answer != Answer::counts || index >= probes.known_work.size()) return answer;
  return linux::why_not_trusted(probes.known_work[index]).empty() ? answer : Answer::too_few;
}

bool may_count_everything(const linux::Survey& survey) {
  return linux::has_capability(survey, linux::cap_perfmon) || linux::has_capability(survey, linux::cap_sys_admin);
}

std::string pmu_names(const linux::Survey& survey) { return join(survey.machine.pmus, ", "); }

std::string attempt_line(const Attempt& attempt) {
  if (attempt.os_errno == 0) return "perf_event_open of instructions:u opens";
  return "perf_event_open of instructions:u returns " + errno_name(attempt.os_errno);
}

// What tally can count without a PMU.
std::vector<Step> steps_without_pmu(const Facts& facts) {
  if (facts.trial.instructions) {
    return {
        {"Without a PMU: the engine counts instructions, branches, loads and stores exactly, at the cost of "
         "time.",
         {"tally stat -- PROGRAM", "tally run -- PROGRAM  # if it opens counters itself"}}};
  }
  std::vector<Step> steps;
  if (facts.probes.trace_errno != 0 && facts.survey.yama_ptrace_scope == 3) {
    steps.push_back(
        {"The engine cannot run either: it needs ptrace, which kernel.yama.ptrace_scope=3 "
         "forbids to everybody until the next start.",
         {}});
  } else if (facts.probes.trace_errno != 0) {
    steps.push_back({fmt::format("The engine cannot run either: it needs ptrace, which returns {}. To allow it "
                                 "in a container:",
                                 errno_name(facts.probes.trace_errno)),
                     {"docker run --cap-add SYS_PTRACE …"}});
  }
  steps.push_back(
      {"Without a PMU and the engine: page faults, context switches and times of a program that runs natively.",
       {"tally stat --backend none -- PROGRAM"}});
  return steps;
}

// "CPUID announces …"; empty without CPUID, or if it has no such information: it does not announce AMD's four oldest
// counters.
std::string announced(const Facts& facts) {
  if (!facts.processor) return {};
  const pmu::Processor& processor = *facts.processor;
  if (processor.amd_perfmon > 0) return fmt::format("CPUID announces {} counters", processor.amd_counters);
  if (processor.perfmon.version > 0) {
    return fmt::format("CPUID announces {} counters (perfmon version {})", processor.perfmon.counters,
                       processor.perfmon.version);
  }
  return processor.vendor == "GenuineIntel" ? "CPUID.0AH announces no counters (version 0)" : "";
}

bool announces_counters(const Facts& facts) {
  return facts.processor && (facts.processor->amd_perfmon > 0 || facts.processor->perfmon.version > 0);
}

void advise_host(const std::optional<Host>& host, Diagnosis& diagnosis) {
  if (host) {
    diagnosis.next = host->switches;
  } else {
    diagnosis.next.push_back(
        {"Only the host can provide one. tally does not recognise this host: ask its operator.", {}});
  }
}

// The machine has no PMU, but a hypervisor that could provide one.
void no_virtual_pmu(const Facts& facts, Diagnosis& diagnosis) {
  const auto host = recognise_host(facts);
  diagnosis.cause = "no-vpmu";
  diagnosis.verdict = fmt::format("This virtual machine{} has no virtual PMU: its host provides none.",
                                  host ? " (" + host->name + ")" : "");
  if (host) diagnosis.evidence.push_back(host->evidence);
  if (!host && facts.processor) diagnosis.evidence.push_back("CPUID 40000000H: " + facts.processor->hypervisor);
  if (!host && !facts.survey.firmware.board.empty()) {
    diagnosis.evidence.push_back("device tree: " + printable(facts.survey.firmware.board));
  }
  advise_host(host, diagnosis);
}

void no_pmu(const Facts& facts, Diagnosis& diagnosis) {
  if (facts.survey.lists_pmus) {
    diagnosis.evidence.push_back("/sys/bus/event_source/devices lists no PMU of the processor: only " +
                                 join(facts.survey.other_pmus, ", "));
  }
  diagnosis.evidence.push_back(attempt_line(facts.probes.cores.front()));
  if (const std::string counters = announced(facts); !counters.empty()) diagnosis.evidence.push_back(counters);
  if (is_virtual(facts) == true && !announces_counters(facts)) return no_virtual_pmu(facts, diagnosis);
  diagnosis.cause = "no-pmu";
  diagnosis.verdict = announces_counters(facts) ? "The processor has a PMU, and the kernel does not drive it."
                                                : "The kernel drives no PMU of this processor.";
  diagnosis.next.push_back(
      {"tally could not determine why. The kernel's boot messages show what it found; a firmware "
       "setting can hide the counters, and the kernel may be older than the processor.",
       {"dmesg | grep -i 'performance events\\|pmu'"}});
}

// The call did not reach the kernel's perf.
void intercepted(const Facts& facts, Diagnosis& diagnosis) {
  const int answer = facts.probes.gate_errno;
  const auto& level = facts.survey.machine.perf_event_paranoid;
  diagnosis.evidence.push_back(fmt::format(
      "perf_event_open with invalid flags returns {}; a kernel with perf returns EINVAL", errno_name(answer)));
  if (facts.survey.seccomp) {
    diagnosis.evidence.push_back(fmt::format("Seccomp: {} in /proc/self/status", *facts.survey.seccomp));
  }
  if (level) diagnosis.evidence.push_back("/proc/sys/kernel/perf_event_paranoid exists: the kernel has perf");

  if (answer == ENOSYS && !level && facts.survey.seccomp != 2) {
    diagnosis.cause = "no-perf";
    diagnosis.verdict = "This kernel was built without perf events (CONFIG_PERF_EVENTS).";
    diagnosis.next.push_back({"Boot a kernel with perf events; the kernels of distributions have them.", {}});
  } else if (facts.survey.seccomp == 2) {
    diagnosis.cause = "filter";
    diagnosis.verdict =
        "A filter of system calls (seccomp) refuses perf_event_open; container runtimes install such filters.";
    diagnosis.next.push_back(
        {"Start the container with the capability that the runtime's own profile asks for (Docker "
         "23 or later; Podman of before the end of 2025 wants SYS_ADMIN as well):",
         {"docker run --cap-add PERFMON …", "podman run --cap-add PERFMON …"}});
    diagnosis.next.push_back({"Or with a profile that allows perf_event_open, or with none:",
                              {"docker run --security-opt seccomp=unconfined …"}});
  } else {
    diagnosis.cause = "intercepted";
    diagnosis.verdict =
        "The call perf_event_open does not reach the kernel's perf; tally could not determine what intercepts it.";
    diagnosis.next.push_back(
        {"A sandbox that implements system calls itself (gVisor) or an emulator can cause this.", {}});
  }
}

void paranoid(const Facts& facts, Diagnosis& diagnosis) {
  const std::int64_t level = *facts.survey.machine.perf_event_paranoid;
  diagnosis.cause = "paranoid";
  diagnosis.verdict =
      fmt::format("There is a PMU ({}), but the kernel lets only privileged users count: perf_event_paranoid is {}.",
                  pmu_names(facts.survey), level);
  diagnosis.evidence.push_back(attempt_line(facts.probes.cores.front()));
  diagnosis.evidence.push_back(fmt::format("/proc/sys/kernel/perf_event_paranoid: {}", level));
  diagnosis.evidence.emplace_back("neither CAP_PERFMON nor CAP_SYS_ADMIN among the effective capabilities");
  const bool contained = !facts.survey.container.empty();
  diagnosis.next.push_back(
      {fmt::format("As root{}: 2 lets everybody count their own programs in user mode, 1 in the "
                   "kernel too. The file keeps the setting after a restart.",
                   contained ? ", on the host of the container (the setting is the whole kernel's)" : ""),
       {"sysctl kernel.perf_event_paranoid=2", "echo kernel.perf_event_paranoid=2 > /etc/sysctl.d/60-perf.conf"}});
  if (contained) {
    diagnosis.next.push_back({"Or give the container the capability:", {"docker run --cap-add PERFMON …"}});
  } else {
    diagnosis.next.push_back({"Or run tally with the capability CAP_PERFMON, or as root.", {}});
  }
}

struct Meaning {
  int os_errno;
  const char* text;
  const char* cause;  // null: the error does not identify a cause
  const char* advice;
  const char* command;  // may be null
};

// perf_event_open(2), ERRORS: the meaning of each for a counter of instructions in user mode.
constexpr Meaning meanings[] = {
    {ENOENT, "the PMU does not support this event", nullptr,
     "Use another event, or an event code from the processor's manual.", "tally events"},
    {EBUSY, "another program has exclusive use of the PMU (an exclusive event)", "held",
     "Find and stop the other profiler, on this machine or on its host.", nullptr},
    {EMFILE, "this process may open no more files", "files",
     "A counter is a file: for each event one, and with -a one for each processor. In this shell:",
     "ulimit -n $(ulimit -H -n)"},
    {ENFILE, "the whole system may open no more files", "files",
     "How many are open, and how many may be; root can allow more:", "sysctl fs.file-nr fs.file-max"},
    {ENODEV, "the processor does not have the feature", nullptr, "The kernel's messages show what its driver found.",
     "dmesg | grep -i 'performance events\\|pmu'"},
    {EOPNOTSUPP, "the PMU cannot count in this way", nullptr, "The kernel's messages show what its driver found.",
     "dmesg | grep -i 'performance events\\|pmu'"},
    {E2BIG, "the kernel does not support all requested attributes", nullptr, "Boot a newer kernel.", nullptr},
    {EINVAL, "the kernel rejects the event as invalid", nullptr, "The kernel's messages show what its driver found.",
     "dmesg | grep -i 'performance events\\|pmu'"},
};

// The kernel refuses to count one mode but not both together.
std::string why_part_alone_is_refused(const Facts& facts) {
  const int refused = facts.probes.cores.front().os_errno;
  if (refused != EPERM && refused != EINVAL && refused != EOPNOTSUPP) return {};
  if (facts.probes.with_kernel.os_errno != 0) return {};
  return "counting user mode and kernel together is possible: this PMU cannot exclude the kernel";
}

void refused(const Facts& facts, Diagnosis& diagnosis) {
  const Attempt& attempt = facts.probes.cores.front();
  const linux::Survey& survey = facts.survey;
  const auto level = survey.machine.perf_event_paranoid;
  if (attempt.os_errno == EACCES && level.value_or(0) > 2 && !may_count_everything(survey)) {
    return paranoid(facts, diagnosis);
  }
  const auto* meaning = std::find_if(std::begin(meanings), std::end(meanings),
                                     [&](const Meaning& one) { return one.os_errno == attempt.os_errno; });
  const bool known = meaning != std::end(meanings);
  const std::string part = why_part_alone_is_refused(facts);
  diagnosis.cause = known && meaning->cause ? meaning->cause : "refused";
  diagnosis.verdict =
      fmt::format("There is a PMU ({}), but it cannot be used{}",
                  survey.core_pmus.empty() ? "not seen in sysfs" : pmu_names(survey),
                  known && meaning->cause ? fmt::format(": {}.", meaning->text) : "; tally could not determine why.");
  diagnosis.evidence.push_back(attempt_line(attempt));
  if (known) diagnosis.evidence.push_back(fmt::format("{}: {}", errno_name(attempt.os_errno), meaning->text));
  if (!part.empty()) {
    diagnosis.evidence.push_back(part);
    diagnosis.next.push_back({"Count both together:", {"tally stat --kernel -e instructions,cycles -- PROGRAM"}});
  } else if (known) {
    diagnosis.next.push_back({meaning->advice, {}});
    if (meaning->command) diagnosis.next.back().commands.emplace_back(meaning->command);
  } else if (attempt.os_errno == EACCES || attempt.os_errno == EPERM) {
    if (level)
      diagnosis.evidence.push_back(fmt::format("perf_event_paranoid is {}: that alone would allow it", *level));
    diagnosis.next.push_back(
        {"A security module (SELinux, AppArmor) or a filter that checks arguments can refuse; the "
         "audit messages show it.",
         {"dmesg | grep -i 'audit\\|denied'"}});
  }
}

void never_ran(const Facts& facts, Diagnosis& diagnosis) {
  diagnosis.cause = "busy";
  diagnosis.verdict = fmt::format("There is a PMU ({}), but no counter of it was free: the event opened and never ran.",
                                  pmu_names(facts.survey));
  diagnosis.evidence.emplace_back("the counter opened; it was enabled, and ran 0 ns");
  if (facts.survey.nmi_watchdog == 1) {
    diagnosis.next.push_back({"The NMI watchdog holds a counter of each processor. As root, until the next start:",
                              {"sysctl kernel.nmi_watchdog=0"}});
  }
  diagnosis.next.push_back(
      {"Another profiler may have pinned the counters: find and stop it, on this machine or on its host.", {}});
}

void too_few(const Facts& facts, Diagnosis& diagnosis) {
  diagnosis.cause = "frozen";
  diagnosis.verdict =
      fmt::format("There is a PMU ({}), but its counts are wrong: do not use it.", pmu_names(facts.survey));
  for (std::size_t i = 0; i < facts.probes.cores.size(); ++i) {
    const auto& counted = facts.probes.cores[i].counted;
    if (counted) {
      diagnosis.evidence.push_back(fmt::format("a loop of {} turns was counted as {} instructions",
                                               thousands(linux::trial_loop),
                                               thousands(static_cast<std::int64_t>(counted->value))));
    }
    if (i >= facts.probes.known_work.size()) continue;
    const std::string why = linux::why_not_trusted(facts.probes.known_work[i]);
    if (!why.empty()) diagnosis.evidence.push_back(why);
  }
  if (is_virtual(facts) == true) {
    diagnosis.next.push_back({"The hypervisor emulates this PMU: update the hypervisor, or ask its operator.", {}});
  }
}

void counts(const Facts& facts, Diagnosis& diagnosis) {
  diagnosis.hardware = true;
  diagnosis.cause = "counts";
  diagnosis.verdict = fmt::format("There is a PMU ({}), and you may use it.", pmu_names(facts.survey));
  for (std::size_t i = 0; i < facts.probes.cores.size(); ++i) {
    const Attempt& attempt = facts.probes.cores[i];
    const std::string name = i < facts.survey.core_pmus.size() ? facts.survey.core_pmus[i].name : "the PMU";
    diagnosis.evidence.push_back(
        answer_of(facts.probes, i) == Answer::counts
            ? fmt::format("a loop of {} turns was counted as {} instructions by {}", thousands(linux::trial_loop),
                          thousands(static_cast<std::int64_t>(attempt.counted->value)), name)
            : fmt::format("{} did not count it ({})", name,
                          attempt.os_errno != 0 ? errno_name(attempt.os_errno) : "it opened and did not run"));
  }
  diagnosis.next.push_back(
      {"Nothing to do: tally uses it automatically.", {"tally stat -e instructions,cycles -- PROGRAM"}});
  for (Step& step : remaining_limits(facts)) diagnosis.next.push_back(std::move(step));
}

bool sees_no_pmu(const Facts& facts) {
  if (facts.survey.lists_pmus) return facts.survey.core_pmus.empty();
  // Without sysfs only the kernel's answer is available.
  return facts.probes.cores.front().os_errno == ENOENT;
}

void conclude(const Facts& facts, Diagnosis& diagnosis) {
  const auto any = [&](Answer expected) {
    for (std::size_t i = 0; i < facts.probes.cores.size(); ++i) {
      if (answer_of(facts.probes, i) == expected) return true;
    }
    return false;
  };
  if (any(Answer::counts)) return counts(facts, diagnosis);
  if (sees_no_pmu(facts)) return no_pmu(facts, diagnosis);
  if (facts.probes.gate_errno != EINVAL) return intercepted(facts, diagnosis);
  if (any(Answer::too_few)) return too_few(facts, diagnosis);
  if (any(Answer::never_ran)) return never_ran(facts, diagnosis);
  refused(facts, diagnosis);
}

}  // namespace

Diagnosis diagnose(const Facts& facts) {
  Diagnosis diagnosis;
  conclude(facts, diagnosis);
  if (!diagnosis.hardware) {
    for (Step& step : steps_without_pmu(facts)) diagnosis.next.push_back(std::move(step));
    if (sees_no_pmu(facts) && facts.probes.gate_errno != EINVAL) {
      diagnosis.evidence.push_back(fmt::format("in addition, perf_event_open does not reach the kernel's perf: {}",
                                               errno_name(facts.probes.gate_errno)));
    }
  }
  diagnosis.countable = countable(facts, diagnosis.hardware);
  diagnosis.facts = describe(facts);
  return diagnosis;
}

}  // namespace tally::doctor
