#include "tally/counting/backend/perf/count/attached.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <numeric>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/conductor.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/machine/cgroups.hpp"
#include "tally/linux/machine/topology.hpp"
#include "tally/linux/process/announcements.hpp"
#include "tally/linux/process/process_watch.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

using linux::PerfStart;

constexpr int attach_tries = 20;

AttachedThread member_of(std::int32_t thread) {
  const auto file = [](std::int64_t of, const char* name) {
    return linux::content(fmt::format("/proc/{}/{}", of, name));
  };
  const auto number = [](const std::string& status, const char* key) {
    return static_cast<std::int32_t>(parse_integer(linux::value_of(status, key)).value_or(0));
  };
  const std::string status = file(thread, "status");
  AttachedThread member{number(status, "Tgid"), thread, number(status, "PPid"), "", linux::value_of(status, "Name")};
  member.command = file(member.process, "comm");
  return member;
}

Error why_nothing(const Counters& counters, const Attachment& attachment) {
  const int why = counters.first_errno();
  const bool denied = why == EACCES || why == EPERM;
  std::string hint = "`tally doctor` explains more";
  if (why == 0 && !attachment.processors.empty())
    hint = "the engine counts commands on any processor: `taskset -c LIST tally stat -e … -- COMMAND`";
  else if (denied && !attachment.processors.empty()) {
    hint = "counting whole processors requires root, CAP_PERFMON, or kernel.perf_event_paranoid at 0 or lower";
  } else if (denied) {
    hint =
        "only root or CAP_PERFMON may count other users' processes; for your own, count user mode: "
        "`-e page-faults:u,task-clock`";
  } else if (why == ENOENT && !attachment.cgroup.empty()) {
    // The kernel creates the group's own perf state only with a controller.
    hint =
        "no controller is enabled for this control group: run `echo +pids > /sys/fs/cgroup/cgroup.subtree_control`, "
        "and the same in each group above it";
  }
  return {Code::cannot_measure,
          why == 0 ? "none of the requested events can be counted there"
                   : "the kernel refuses to count there (perf_event_open): " + linux::errno_text(why),
          hint, why};
}

}  // namespace

// A thread that an opened thread starts is counted with it; a thread that an unopened one starts is not. To count each
// thread once, the counters are opened again until no thread started in the meantime.
std::size_t open_threads(const std::function<std::vector<pid_t>()>& threads_now, Counters& counters,
                         std::vector<AttachedThread>& members) {
  const std::size_t first_target = counters.targets();
  const std::size_t first_member = members.size();
  std::vector<pid_t> threads = threads_now();
  for (int tries = 1;; ++tries) {
    for (const pid_t thread : threads) {
      members.push_back(member_of(thread));
      counters.open({thread, -1, true, PerfStart::when_enabled});
    }
    std::vector<pid_t> now = threads_now();
    const auto began = std::count_if(now.begin(), now.end(), [&](pid_t thread) {
      return std::find(threads.begin(), threads.end(), thread) == threads.end();
    });
    if (began == 0 || tries == attach_tries) return static_cast<std::size_t>(began);
    counters.forget(first_target);
    members.resize(first_member);
    threads = std::move(now);
  }
}

Result<Attached> open_attached(const Attachment& attachment, Counters& counters) {
  Attached attached;
  std::size_t doubtful = 0;
  for (const std::int32_t process : attachment.processes) {
    doubtful += open_threads([process] { return linux::threads_of(process); }, counters, attached.members);
    if (!linux::is_process_alive(process)) return fail(linux::not_alive("process", process));
  }
  for (const std::int32_t thread : attachment.threads) {
    if (!linux::is_alive(thread)) return fail(linux::not_alive("thread", thread));
    attached.members.push_back(member_of(thread));
    counters.open({thread, -1, false, PerfStart::when_enabled});
  }
  linux::Descriptor group;
  if (!attachment.cgroup.empty()) {
    auto opened = linux::open_cgroup(attachment.cgroup);
    if (!opened) return fail(opened.error());
    group = std::move(*opened);
  }
  for (const int processor : attachment.processors) {
    counters.open({-1, processor, false, PerfStart::when_enabled, group.get()});
  }
  if (counters.size() == 0) return fail(why_nothing(counters, attachment));
  if (counters.any_in_user_mode()) {
    for (const AttachedThread& one : attached.members) {
      if (!linux::is_kernel_thread(one.thread)) continue;
      attached.notices.push_back(fmt::format(
          "{} ({}) is a kernel thread: it never runs in user mode; `:k` counts what it does", one.thread, one.name));
    }
  }
  if (std::string left_out = linux::children_left_out(attachment.processes); !left_out.empty())
    attached.notices.push_back(std::move(left_out));
  if (doubtful > 0) {
    counters.doubt(fmt::format("{} started while the counters were opened, and may be missing",
                               doubtful == 1 ? "a thread" : fmt::format("{} threads", doubtful)));
  }
  return attached;
}

namespace {

// Returns a row for each kind of cores, with the events that its PMU counts.
std::vector<result::Part> kinds_of(const Order& order, const std::vector<linux::PmuDevice>& cores,
                                   const Counters& counters) {
  std::vector<std::size_t> all(counters.targets());
  std::iota(all.begin(), all.end(), 0);
  std::vector<result::Part> parts;
  for (const linux::PmuDevice& core : cores) {
    result::Part part{core.name, core.cpus, {}};
    for (auto& [index, count] : counters.of_core(core.name, all)) {
      part.counts.push_back(event_count(order.events[index], std::move(count)));
    }
    if (!part.counts.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

Count attached_count(const event::Event& event, const Count& counted, Nanoseconds duration) {
  if (event.id == event::Id::duration_time) return tally::counted(duration.count(), Source::clock);
  const bool of_command = event::definition(event.id).kind == event::Kind::software && !kernel_event(event.id);
  return of_command ? absent("available only for commands that tally starts") : counted;
}

// Returns a row for each attached process, with its threads at the start.
std::vector<result::Process> processes_of(const Order& order, const Attached& attached, const Counters& counters,
                                          Nanoseconds duration) {
  if (!order.count()->processes) return {};
  const auto counts_of = [&](const std::vector<std::size_t>& targets) {
    std::vector<EventCount> own;
    const std::vector<Count> counts = counters.of(targets);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      own.push_back(event_count(order.events[i], attached_count(order.events[i], counts[i], duration)));
    }
    return own;
  };
  std::vector<result::Process> processes;
  std::map<std::int64_t, std::vector<std::size_t>> targets;
  for (std::size_t i = 0; i < attached.members.size(); ++i) {
    const AttachedThread& one = attached.members[i];
    auto process =
        std::find_if(processes.begin(), processes.end(), [&](const auto& row) { return row.pid == one.process; });
    if (process == processes.end()) {
      process = processes.insert(process, result::Process{});
      process->pid = one.process;
      process->parent_pid = one.parent;
      process->command = one.command;
    }
    targets[one.process].push_back(i);
    process->threads.push_back({one.thread, one.name, counts_of({i})});
  }
  for (result::Process& process : processes) {
    process.counts = counts_of(targets[process.pid]);
    if (linux::is_process_alive(static_cast<pid_t>(process.pid))) process.end = result::End::running;
  }
  return processes;
}

std::vector<result::Part> parts_of(const Order& order, const std::vector<linux::PmuDevice>& cores,
                                   const Counters& counters, Nanoseconds duration) {
  if (!order.target.attachment.parts) return kinds_of(order, cores, counters);
  const bool by_core = *order.target.attachment.parts == result::PartOf::core;
  std::map<std::pair<int, int>, std::vector<std::size_t>> members;
  const std::vector<int>& processors = order.target.attachment.processors;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const auto index = linux::cpu_position(processors[i]);
    members[{index ? index->socket : -1, !index ? processors[i] : by_core ? index->core : 0}].push_back(i);
  }
  std::vector<result::Part> parts;
  for (const auto& [index, targets] : members) {
    result::Part part;
    part.name = index.first < 0 ? fmt::format("processor {}", index.second)
                : by_core       ? fmt::format("S{}-C{}", index.first, index.second)
                                : fmt::format("S{}", index.first);
    std::vector<std::string> cpus;
    for (const std::size_t target : targets) cpus.push_back(std::to_string(processors[target]));
    part.cpus = join(cpus, ",");
    const std::vector<Count> counts = counters.of(targets);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      part.counts.push_back(event_count(order.events[i], attached_count(order.events[i], counts[i], duration)));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

namespace {

std::string end_of(const Attachment& attachment, Nanoseconds duration) {
  const std::size_t number = attachment.processes.size() + attachment.threads.size();
  const std::string target = number > 1                         ? "all processes and threads"
                             : attachment.processes.size() == 1 ? fmt::format("process {}", attachment.processes[0])
                                                                : fmt::format("thread {}", attachment.threads[0]);
  return fmt::format("{} ended after {}", target, duration_text(duration));
}

}  // namespace

Result<Outcome> count_attached(const Order& order, const std::vector<linux::PmuDevice>& cores) {
  using Taken = linux::Signals::Taken;
  const Attachment& attachment = order.target.attachment;
  Counters counters(order.events, cores);
  auto attached = open_attached(attachment, counters);
  if (!attached) return fail(attached.error());
  linux::ProcessWatch living(attachment.processes, attachment.threads);
  bool over = false;
  Conductor conductor(order, counters, rotation_of(cores), [&](linux::End /*how*/) { over = true; });
  const Nanoseconds start = linux::now();
  conductor.begin(start);
  while (!over && (!attachment.processors.empty() || living.any())) {
    int patience = -1;
    if (const auto next = conductor.next()) {
      patience = static_cast<int>(std::max<std::int64_t>((*next - linux::now()) / std::chrono::milliseconds(1) + 1, 0));
    }
    living.wait(order.conditions.signals->fd(), patience);
    const Taken taken = order.conditions.signals->take(0);
    if (taken == Taken::interrupted || taken == Taken::give_up) break;
    if (const Nanoseconds now = linux::now(); conductor.next() && *conductor.next() <= now) conductor.due(now);
  }
  const std::vector<Count> counts = conductor.finish(linux::now());
  if (attachment.processors.empty() && !living.any())
    attached->notices.push_back(end_of(attachment, linux::now() - start));
  Outcome outcome;
  outcome.duration = conductor.counted(linux::now());
  outcome.notices = attached->notices;
  outcome.intervals = conductor.intervals();
  if (conductor.began()) {
    outcome.parts = parts_of(order, cores, counters, outcome.duration);
    outcome.processes = processes_of(order, *attached, counters, outcome.duration);
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    outcome.counts.push_back(
        event_count(order.events[i], conductor.began() ? attached_count(order.events[i], counts[i], outcome.duration)
                                                       : absent("it ended before counting began")));
  }
  return outcome;
}

}  // namespace tally::backend::perf
