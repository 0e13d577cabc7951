#include "tally/backend/perf/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <numeric>

#include "tally/base/text.hpp"
#include "tally/linux/system.hpp"

namespace tally::backend::perf {
namespace {

bool is_clock(const event::Event& event) {
  return event.id == event::Id::task_clock || event.id == event::Id::cpu_clock;
}

// The clocks tell the same whether the kernel's part is theirs or not: the whole time on a processor.
linux::PerfCounter open_as_allowed(const event::Event& event, linux::PerfEvent encoded, const linux::PerfTarget& target,
                                   const linux::PerfCounter* leader) {
  linux::PerfCounter counter = linux::open_counter(encoded, target, leader);
  if (counter.os_errno != EACCES || !is_clock(event)) return counter;
  encoded.user_only = true;
  return linux::open_counter(encoded, target, leader);
}

}  // namespace

std::string why_refused(int os_errno, const event::Event& event) {
  switch (os_errno) {
    case ENOENT: return "this PMU has no such event";
    case EINVAL:
      return event.group != 0 ? "the PMU cannot count it together with the others of its group"
                              : "the kernel does not take it (Invalid argument): not this event, or not for a program";
    case EACCES:
    case EPERM:
      return event.mode == event::Mode::user
                 ? fmt::format("the kernel refuses to count it: {} (`tally doctor` tells more)",
                               linux::errno_text(os_errno))
                 : fmt::format("the kernel refuses to count what it does itself: {} (`tally doctor` tells more)",
                               linux::errno_text(os_errno));
    case EMFILE: return linux::why_no_more_files();
    case ENFILE: return "the whole system may open no more files (fs.file-max), and each counter is one";
    case ESRCH: return "the thread had ended";
    default: return "the kernel refuses to count it: " + linux::errno_text(os_errno);
  }
}

Count of_core_types(const std::vector<Reading>& kinds, const std::string& source, bool by_turns) {
  Reading sum;
  for (const Reading& kind : kinds) {
    const Nanoseconds enabled =
        by_turns ? std::max(sum.time_enabled, kind.time_enabled) : sum.time_enabled + kind.time_enabled;
    sum = sum + kind;
    sum.time_enabled = enabled;
  }
  Count count = counted(sum.raw, source);
  count.reading = sum;
  if (sum.time_running == sum.time_enabled) return count;
  const std::string percent = fmt::format("{:.4g} % of the time", running_percent(count).value_or(0));
  return downgraded(std::move(count), Trust::partial,
                    kinds.size() > 1
                        ? fmt::format("counted in {}; with several kinds of cores nothing is scaled", percent)
                        : fmt::format("counted in {}: on {}'s cores alone, and nothing is scaled", percent, source));
}

Nanoseconds rotation_of(const std::vector<linux::PmuDevice>& cores) {
  std::optional<int> soonest;
  for (const linux::PmuDevice& core : cores) {
    if (core.rotation_ms && (!soonest || *core.rotation_ms < *soonest)) soonest = core.rotation_ms;
  }
  return std::chrono::milliseconds(soonest.value_or(4));
}

Counters::Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores)
    : several_kinds_(cores.size() > 1) {
  for (const event::Event& event : events) all_.push_back({event, encode(event, cores)});
}

void Counters::open(const linux::PerfTarget& target) {
  targets_.push_back(target);
  for (One& one : all_) {
    std::vector<linux::PerfCounter> counters;
    for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) {
      const Encoded& encoded = one.kinds[kind];
      if (!encoded.why_none.empty()) {
        counters.emplace_back();
        continue;
      }
      counters.push_back(open_as_allowed(one.event, encoded.event, target, leader_of(one, kind)));
      if (!counters.back()) one.os_errno = counters.back().os_errno;
    }
    one.opened.push_back(std::move(counters));
  }
}

// The first of the group whose counter for this target, the last one, is open on this kind of cores.
const linux::PerfCounter* Counters::leader_of(const One& member, std::size_t kind) const {
  if (member.event.group == 0) return nullptr;
  for (const One& one : all_) {
    if (&one == &member) return nullptr;
    if (one.event.group != member.event.group || one.opened.size() != targets_.size()) continue;
    const std::vector<linux::PerfCounter>& counters = one.opened.back();
    if (kind < counters.size() && counters[kind]) return &counters[kind];
  }
  return nullptr;
}

void Counters::enable() {
  for (const One& one : all_) {
    for (const auto& counters : one.opened) {
      for (const linux::PerfCounter& counter : counters) {
        if (counter) counter.enable();
      }
    }
  }
}

int Counters::first_errno() const {
  for (const One& one : all_) {
    if (one.os_errno != 0) return one.os_errno;
  }
  return 0;
}

std::size_t Counters::size() const {
  std::size_t open = 0;
  for (const One& one : all_) {
    for (const auto& counters : one.opened) {
      for (const linux::PerfCounter& counter : counters) open += counter ? 1 : 0;
    }
  }
  return open;
}

std::vector<Count> Counters::read() {
  for (One& one : all_) {
    one.held.clear();
    for (const auto& counters : one.opened) {
      std::vector<Held>& held = one.held.emplace_back();
      for (const linux::PerfCounter& counter : counters) {
        const auto value = counter.read();
        held.push_back(value ? Held({static_cast<std::int64_t>(value->value), value->enabled, value->running})
                             : Held());
      }
    }
  }
  std::vector<std::size_t> all(targets_.size());
  std::iota(all.begin(), all.end(), 0);
  return of(all);
}

std::vector<Count> Counters::of(const std::vector<std::size_t>& targets) const {
  std::vector<Count> counts;
  for (const One& one : all_) counts.push_back(count_of(one, targets));
  return counts;
}

// A counter that has nothing to add: of a thread that was gone when it was to be opened, and on a processor whose cores
// are of another kind.
bool Counters::is_elsewhere(const One& one, std::size_t target, std::size_t kind) const {
  const int why = one.opened[target][kind].os_errno;
  if (why == ESRCH) return true;
  const bool other_kind = why == EINVAL || why == ENODEV || why == ENOENT;
  const auto& others = one.opened[target];
  return several_kinds_ && targets_[target].processor >= 0 && other_kind &&
         std::any_of(others.begin(), others.end(), [](const linux::PerfCounter& other) { return bool(other); });
}

Count Counters::count_of(const One& one, const std::vector<std::size_t>& targets) const {
  for (const Encoded& encoded : one.kinds) {
    if (!encoded.why_none.empty()) return absent(encoded.why_none);
  }
  std::vector<std::vector<Reading>> readings(one.kinds.size());
  bool any = false;
  for (const std::size_t target : targets) {
    for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) {
      if (is_elsewhere(one, target, kind)) continue;
      const linux::PerfCounter& counter = one.opened[target][kind];
      if (!counter) return absent(why_refused(counter.os_errno, one.event));
      const Held& held = one.held[target][kind];
      if (!held) return absent("its counter cannot be read");
      readings[kind].push_back(*held);
      any = true;
    }
  }
  if (!any) return absent(one.os_errno != 0 ? why_refused(one.os_errno, one.event) : "it was not counted");
  Count sum = sum_of(one, readings);
  for (const Encoded& encoded : one.kinds) {
    if (!encoded.doubt.empty()) sum = downgraded(std::move(sum), Trust::partial, encoded.doubt);
  }
  return sum;
}

Count Counters::sum_of(const One& one, const std::vector<std::vector<Reading>>& readings) const {
  const bool hardware = event::has_modes(event::definition(one.event.id).kind);
  if (!several_kinds_ || !hardware) {
    std::optional<Count> sum;
    for (const Reading& reading : readings.front()) {
      const Count count = from_reading(reading, one.kinds.front().source);
      sum = sum ? *sum + count : count;
    }
    return *sum;
  }
  std::vector<Reading> kinds;
  std::vector<std::string> sources;
  for (std::size_t kind = 0; kind < readings.size(); ++kind) {
    if (readings[kind].empty()) continue;
    kinds.push_back(std::accumulate(readings[kind].begin(), readings[kind].end(), Reading{}));
    sources.push_back(one.kinds[kind].source);
  }
  return of_core_types(kinds, join(sources, ", "), targets_.front().processor < 0);
}

}  // namespace tally::backend::perf
