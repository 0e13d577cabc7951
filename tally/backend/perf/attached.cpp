#include "tally/backend/perf/attached.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include "tally/backend/conductor.hpp"
#include "tally/base/text.hpp"
#include "tally/linux/announcements.hpp"
#include "tally/linux/cgroups.hpp"
#include "tally/linux/living.hpp"
#include "tally/linux/memory_file.hpp"
#include "tally/linux/system.hpp"
#include "tally/linux/topology.hpp"

namespace tally::backend::perf {
namespace {

using linux::PerfStart;

constexpr int scans_at_most = 20;

tl::unexpected<Error> not_there(const char* what, std::int32_t number) {
  return fail(Code::cannot_measure, fmt::format("there is no {} {}", what, number), "`ps -e` lists processes", ESRCH);
}

// Every thread that was there when this began, with what they start from their opening on. One that another began
// meanwhile is counted with that one, or was begun a moment too early: nobody can tell.
Result<std::size_t> open_process(std::int32_t process, Counters& counters) {
  std::set<pid_t> seen;
  std::size_t doubtful = 0;
  for (int scan = 0; scan < scans_at_most; ++scan) {
    bool any_new = false;
    for (const pid_t thread : linux::threads_of(process)) {
      if (!seen.insert(thread).second) continue;
      any_new = true;
      if (scan == 0) {
        counters.open({thread, -1, true, PerfStart::when_told});
      } else {
        ++doubtful;
      }
    }
    if (!any_new) break;
  }
  if (seen.empty() || !linux::is_alive(process)) return not_there("process", process);
  return doubtful;
}

Error why_nothing(const Counters& counters, const Attachment& attachment) {
  const int why = counters.first_errno();
  const bool denied = why == EACCES || why == EPERM;
  std::string hint = "`tally doctor` tells more";
  if (denied && !attachment.processors.empty()) {
    hint =
        "whole processors may be counted by root, with CAP_PERFMON, or with kernel.perf_event_paranoid at 0 or lower";
  } else if (denied) {
    hint =
        "processes of other users, and where kernel.perf_event_paranoid forbids it all, are counted by root only, or "
        "with CAP_PERFMON";
  } else if (why == ENOENT && !attachment.cgroup.empty()) {
    // Only then the kernel makes what it counts with for the group.
    hint =
        "no controller is handed down to this control group: `echo +pids > /sys/fs/cgroup/cgroup.subtree_control`, and "
        "the same in each group above it";
  }
  return {Code::cannot_measure,
          why == 0 ? "nothing that was asked for can be counted there"
                   : "the kernel refuses to count there (perf_event_open): " + linux::errno_text(why),
          hint, why};
}

}  // namespace

Result<std::vector<std::string>> open_attached(const Attachment& attachment, Counters& counters) {
  std::size_t doubtful = 0;
  for (const std::int32_t process : attachment.processes) {
    const auto opened = open_process(process, counters);
    if (!opened) return fail(opened.error());
    doubtful += *opened;
  }
  for (const std::int32_t thread : attachment.threads) {
    if (!linux::is_alive(thread)) return not_there("thread", thread);
    counters.open({thread, -1, false, PerfStart::when_told});
  }
  linux::Descriptor group;
  if (!attachment.cgroup.empty()) {
    auto opened = linux::open_cgroup(attachment.cgroup);
    if (!opened) return fail(opened.error());
    group = std::move(*opened);
  }
  for (const int processor : attachment.processors) {
    counters.open({-1, processor, false, PerfStart::when_told, group.get()});
  }
  if (counters.size() == 0) return fail(why_nothing(counters, attachment));
  if (doubtful == 0) return std::vector<std::string>{};
  return std::vector<std::string>{fmt::format("{} began while the counters were opened, and may be missing",
                                              doubtful == 1 ? "a thread" : fmt::format("{} threads", doubtful))};
}

Count attached_count(const event::Event& event, const Count& counted, Nanoseconds duration) {
  if (event.id == event::Id::duration_time) return tally::counted(duration.count(), "clock");
  const bool of_command = event::definition(event.id).kind == event::Kind::software && !kernel_event(event.id);
  return of_command ? absent("known of commands only that tally itself starts") : counted;
}

std::vector<result::Part> parts_of(const Request& request, const Counters& counters, Nanoseconds duration) {
  if (!request.attachment.parts) return {};
  const bool by_core = *request.attachment.parts == result::PartOf::core;
  std::map<std::pair<int, int>, std::vector<std::size_t>> members;
  const std::vector<int>& processors = request.attachment.processors;
  for (std::size_t i = 0; i < processors.size(); ++i) {
    const auto place = linux::place_of(processors[i]);
    members[{place ? place->socket : -1, !place ? processors[i] : by_core ? place->core : 0}].push_back(i);
  }
  std::vector<result::Part> parts;
  for (const auto& [place, targets] : members) {
    result::Part part;
    part.name = place.first < 0 ? fmt::format("processor {}", place.second)
                : by_core       ? fmt::format("S{}-C{}", place.first, place.second)
                                : fmt::format("S{}", place.first);
    std::vector<std::string> cpus;
    for (const std::size_t target : targets) cpus.push_back(std::to_string(processors[target]));
    part.cpus = join(cpus, ",");
    const std::vector<Count> counts = counters.of(targets);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      part.counts.push_back(event_count(request.events[i], attached_count(request.events[i], counts[i], duration)));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<Outcome> count_attached(const Request& request, const std::vector<linux::PmuDevice>& cores) {
  using Taken = linux::Signals::Taken;
  const Attachment& attachment = request.attachment;
  Counters counters(request.events, cores);
  auto notices = open_attached(attachment, counters);
  if (!notices) return fail(notices.error());
  linux::Living living(attachment.processes, attachment.threads);
  bool over = false;
  Conductor conductor(request, counters, rotation_of(cores), [&] { over = true; });
  conductor.begin(linux::now());
  while (!over && (!attachment.processors.empty() || living.any())) {
    int patience = -1;
    if (const auto next = conductor.next()) {
      patience = static_cast<int>(std::max<std::int64_t>((*next - linux::now()) / std::chrono::milliseconds(1) + 1, 0));
    }
    living.wait(request.signals->fd(), patience);
    const Taken taken = request.signals->take(0);
    if (taken == Taken::interrupted || taken == Taken::give_up) break;
    if (const Nanoseconds now = linux::now(); conductor.next() && *conductor.next() <= now) conductor.due(now);
  }
  const std::vector<Count> counts = conductor.finish(linux::now());
  Outcome outcome;
  outcome.duration = conductor.counted(linux::now());
  outcome.notices = std::move(*notices);
  outcome.intervals = conductor.intervals();
  if (conductor.began()) outcome.parts = parts_of(request, counters, outcome.duration);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    outcome.counts.push_back(event_count(
        request.events[i], conductor.began() ? attached_count(request.events[i], counts[i], outcome.duration)
                                             : absent("it was over before counting was to begin")));
  }
  return outcome;
}

}  // namespace tally::backend::perf
