#include "programs/doctor/host_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "programs/doctor/diagnose.hpp"
#include "tally/core/base/text.hpp"

namespace tally::doctor {
namespace {

void add_rights(const Facts& facts, std::vector<Step>& steps) {
  const linux::Probes& probes = facts.probes;
  std::vector<std::string> missing;
  if (probes.with_kernel.os_errno != 0) missing.emplace_back("what happens in the kernel");
  if (probes.whole_processor_errno != 0) missing.emplace_back("a whole processor");
  if (missing.empty()) return;
  const auto level = facts.survey.machine.perf_event_paranoid;
  steps.push_back({fmt::format("Not allowed to you: counting {}{}. As root:", join(missing, " or "),
                               level ? fmt::format(" (perf_event_paranoid is {})", *level) : ""),
                   {fmt::format("sysctl kernel.perf_event_paranoid={}", probes.whole_processor_errno != 0 ? 0 : 1)}});
}

// perf_event_open(2) on rdpmc; Linux, Documentation/arch/arm64/perf.rst on perf_user_access; sysctl/kernel.rst on
// perf_event_mlock_kb.
void add_user_reads(const Facts& facts, std::vector<Step>& steps) {
  const auto& reads = facts.probes.user_reads;
  if (!reads || reads->allowed) return;
  const linux::Survey& survey = facts.survey;
  if (reads->os_errno != 0) {
    steps.push_back({fmt::format("The page by which a program reads a counter without a system call cannot be mapped "
                                 "({}){}. As root:",
                                 errno_name(reads->os_errno),
                                 survey.mlock_kb ? fmt::format("; perf_event_mlock_kb is {}", *survey.mlock_kb) : ""),
                     {"sysctl kernel.perf_event_mlock_kb=516"}});
    return;
  }
  if (survey.perf_user_access == 0) {
    steps.push_back({"Programs cannot read counters without a system call: perf_user_access is 0. As root:",
                     {"sysctl kernel.perf_user_access=1"}});
    return;
  }
  for (const linux::CorePmu& pmu : survey.core_pmus) {
    if (pmu.user_reads != 0) continue;
    steps.push_back(
        {fmt::format("Programs cannot read counters without a system call: {}'s file rdpmc is 0. As root:", pmu.name),
         {fmt::format("echo 1 > /sys/bus/event_source/devices/{}/rdpmc", pmu.name)}});
  }
}

// "0-3,8" → 5.
std::int64_t processors_in(const std::string& list) {
  std::int64_t all = 0;
  for (const std::string& range : split(list, ',')) {
    const auto ends = split(range, '-');
    const auto first = parse_integer(ends.front());
    const auto last = parse_integer(ends.back());
    if (first && last && *first <= *last) all += *last - *first + 1;
  }
  return all;
}

// With -a each event needs one file per processor.
void add_files(const Facts& facts, std::vector<Step>& steps) {
  constexpr std::int64_t others = 16;        // standard streams, results, /proc
  constexpr std::int64_t usual_events = 10;  // the number of default events
  const linux::Survey& survey = facts.survey;
  const std::int64_t processors = processors_in(survey.online);
  if (!survey.open_files || processors == 0) return;
  const std::int64_t events = std::max<std::int64_t>(*survey.open_files - others, 0) / processors;
  if (events >= usual_events) return;
  Step step{fmt::format("Counting whole processors has room for {}: each takes a file for every processor ({} here), "
                        "and {} may be open at a time.",
                        plural(events, "event", "events"), processors, *survey.open_files),
            {}};
  if (survey.open_files_at_most.value_or(0) > *survey.open_files) {
    step.text += " In this shell:";
    step.commands.push_back(fmt::format("ulimit -n {}", *survey.open_files_at_most));
  }
  steps.push_back(std::move(step));
}

}  // namespace

// perf_mmap() of kernel/events/core.c: perf_event_mlock_kb is per processor, for all programs of a user together; more
// counts as the process's own locked memory. Neither applies with CAP_IPC_LOCK or paranoid level −1.
std::optional<UserModeCounterLimit> user_mode_counter_limit(const linux::Survey& survey) {
  constexpr std::int64_t usual_events = 4;
  const std::int64_t processors = processors_in(survey.online);
  if (!survey.mlock_kb || !survey.locked_bytes || processors == 0) return std::nullopt;
  if (linux::has_capability(survey, linux::cap_ipc_lock)) return UserModeCounterLimit{{}, "no limit: CAP_IPC_LOCK"};
  if (survey.machine.perf_event_paranoid.value_or(0) < 0)
    return UserModeCounterLimit{{}, "no limit: perf_event_paranoid"};
  if (*survey.locked_bytes < 0) return UserModeCounterLimit{{}, "no limit: ulimit -l"};
  const std::int64_t counters =
      *survey.mlock_kb * 1024 / survey.page_bytes * processors + *survey.locked_bytes / survey.page_bytes;
  return UserModeCounterLimit{counters,
                              fmt::format("{}: {} with {} events each", thousands(counters),
                                          plural(counters / usual_events, "thread", "threads"), usual_events)};
}

std::vector<Step> remaining_limits(const Facts& facts) {
  std::vector<Step> steps;
  add_rights(facts, steps);
  add_user_reads(facts, steps);
  add_files(facts, steps);
  return steps;
}

}  // namespace tally::doctor
