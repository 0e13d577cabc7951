#include "programs/watch/task_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "programs/watch/kernel_counters.hpp"
#include "tally/linux/machine/cgroups.hpp"
#include "tally/linux/process/process_watch.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
using linux::PerfEvent;

// Every counter is a file descriptor: rows with more than these have no counts.
constexpr std::size_t most_threads = 256, most_of_groups = 4096;

constexpr Id columns[] = {Id::instructions, Id::cycles, Id::ipc};

void set_reasons(WatchedMachine& machine, Kind kind, std::size_t reason) {
  for (const Id id : columns) machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
}

}  // namespace

TaskCounters TaskCounters::open(WatchedMachine& machine) {
  TaskCounters counters;
  counters.counts_ = !machine.survey.core_pmus.empty() && machine.root == "/";
  if (!counters.counts_) {
    const std::size_t reason = why_no_core_counters(machine);
    for (const Kind kind : {Kind::process, Kind::group}) set_reasons(machine, kind, reason);
    return counters;
  }
  set_reasons(machine, Kind::process, machine.not_yet);
  set_reasons(machine, Kind::group,
              machine.groups.unified.empty()
                  ? machine.reasons.add("no-cgroup2",
                                        "groups are counted in the unified hierarchy (cgroup v2), which is missing")
                  : machine.not_yet);
  return counters;
}

int TaskCounters::add(Opened& opened, std::uint64_t type_bits, const linux::PerfTarget& target) {
  // PERF_COUNT_HW_CPU_CYCLES is the group leader of PERF_COUNT_HW_INSTRUCTIONS: both count at the same times or not at
  // all.
  std::size_t leader = opened.members.size();
  for (const auto& [number, counts] : {std::pair{std::uint64_t{0}, Counted::cycles}, {1, Counted::instructions}}) {
    const bool leads = opened.members.size() == leader;
    linux::PerfCounter counter = linux::open_counter({linux::perf_type_hardware, type_bits | number}, target,
                                                     leads ? nullptr : &opened.members[leader].counter);
    if (!counter) return counter.os_errno;
    opened.members.push_back({std::move(counter), counts, {}, 0});
  }
  return 0;
}

void TaskCounters::open_process(WatchedMachine& machine, int process, Opened& opened) const {
  const std::vector<pid_t> threads = linux::threads_of(process);
  if (threads.size() > most_threads) {
    opened.refused = machine.reasons.add(
        "too-many-threads", fmt::format("it has more than {} threads, and each needs two counters", most_threads),
        "`tally stat -p PID` counts it");
    return;
  }
  // With two kinds of cores, each has its own counter.
  std::vector<std::uint64_t> kinds{0};
  if (machine.survey.core_pmus.size() > 1) {
    kinds.clear();
    for (const auto& pmu : machine.survey.core_pmus) kinds.push_back(std::uint64_t{pmu.type.value_or(0)} << 32);
  }
  linux::PerfTarget target;
  target.inherit = true;
  target.threads_only = true;
  for (const pid_t thread : threads) {
    target.thread = thread;
    for (const std::uint64_t kind : kinds) {
      const int error = add(opened, kind, target);
      if (error == ESRCH) continue;  // it has ended meanwhile
      if (error == 0) continue;
      opened.refused = why_refused(machine, error, "instructions and cycles of a process");
      opened.members.clear();
      return;
    }
  }
}

void TaskCounters::open_group(WatchedMachine& machine, const std::string& path, Opened& opened) const {
  std::size_t all = 0;
  for (const auto& [key, one] : opened_) all += key.starts_with('/') ? one.members.size() : 0;
  if (all + 2 * machine.processors.size() > most_of_groups) {
    opened.refused = machine.reasons.add(
        "too-many-groups", "each group needs two counters on each processor, and that is more than tally opens",
        "show fewer with --rows; `tally stat --cgroup PATH` counts one");
    return;
  }
  const auto folder = linux::open_cgroup(machine.groups.unified + path);
  if (!folder) {
    opened.refused = machine.not_reported;
    return;
  }
  linux::PerfTarget target;
  target.thread = -1;
  target.cgroup = folder->get();
  for (const int processor : machine.processors) {
    target.processor = processor;
    const int error = add(opened, core_type_bits(machine, processor), target);
    if (error == 0) continue;
    // The kernel's perf has a separate group only if some controller has one there (kernel/cgroup/cgroup.c).
    opened.refused = error == ENOENT
                         ? machine.reasons.add("group-without-controller",
                                               "no controller is enabled for this group, so the kernel cannot count it",
                                               "as root, in each group above it: echo +pids > cgroup.subtree_control")
                         : why_refused(machine, error, "instructions and cycles of a group");
    opened.members.clear();
    return;
  }
}

Sums TaskCounters::take(Opened& opened) {
  Sums sums;
  bool all = true;
  for (const Counted counts : {Counted::cycles, Counted::instructions}) sums[static_cast<std::size_t>(counts)] = 0;
  for (Member& member : opened.members) {
    const auto now = member.counter.read();
    if (!now) {
      all = false;
      continue;
    }
    const auto enabled = static_cast<double>((now->enabled - member.last.enabled).count());
    const auto running = static_cast<double>((now->running - member.last.running).count());
    const auto counted = static_cast<double>(now->value - member.last.value);
    all = all && (running > 0 || enabled <= 0);
    // The counter was shared for a part of the time, so its count is extrapolated.
    if (running > 0) member.sum += counted * std::max(1.0, enabled / running);
    member.last = *now;
    *sums[static_cast<std::size_t>(member.counts)] += member.sum;
  }
  return all ? sums : Sums{};
}

TaskCounters::Opened& TaskCounters::known(const std::string& key, bool& is_new) {
  const auto [place, inserted] = opened_.try_emplace(key);
  is_new = inserted;
  place->second.is_seen = true;
  return place->second;
}

void TaskCounters::close_others(bool of_groups) {
  for (auto one = opened_.begin(); one != opened_.end();) {
    const bool is_meant = one->first.starts_with('/') == of_groups;
    const bool is_seen = std::exchange(one->second.is_seen, is_meant ? false : one->second.is_seen);
    one = is_meant && !is_seen ? opened_.erase(one) : std::next(one);
  }
}

TaskReadings<int> TaskCounters::read(WatchedMachine& machine, const std::vector<ProcessStatistics>& processes) {
  TaskReadings<int> readings;
  if (!counts_) return readings;
  for (const ProcessStatistics& statistics : processes) {
    bool is_new = false;
    Opened& opened = known(fmt::format("{} {}", statistics.process, statistics.started), is_new);
    if (is_new) open_process(machine, statistics.process, opened);
    if (opened.refused != 0) {
      readings.reasons[statistics.process] = opened.refused;
    } else {
      readings.sums[statistics.process] = take(opened);
    }
  }
  close_others(false);
  return readings;
}

TaskReadings<std::string> TaskCounters::read(WatchedMachine& machine, const std::vector<CgroupStatistics>& groups) {
  TaskReadings<std::string> readings;
  if (!counts_ || machine.groups.unified.empty()) return readings;
  for (const CgroupStatistics& statistics : groups) {
    bool is_new = false;
    Opened& opened = known(statistics.path, is_new);
    if (is_new) open_group(machine, statistics.path, opened);
    if (opened.refused != 0) {
      readings.reasons[statistics.path] = opened.refused;
    } else {
      readings.sums[statistics.path] = take(opened);
    }
  }
  close_others(true);
  return readings;
}

}  // namespace tally::watch
