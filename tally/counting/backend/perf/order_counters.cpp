#include "tally/counting/backend/perf/order_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <numeric>
#include <span>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

using linux::PerfStart;

// A clock counts the whole time on a CPU, with or without the kernel's part, so user mode alone has the same value.
linux::PerfCounter open_as_allowed(const event::Event& event, linux::PerfEvent encoded, const linux::PerfTarget& target,
                                   const linux::PerfCounter* leader) {
  linux::PerfCounter counter = linux::open_counter(encoded, target, leader);
  if (counter.os_errno != EACCES || !event::is_clock(event)) return counter;
  encoded.user_only = true;
  return linux::open_counter(encoded, target, leader);
}

}  // namespace

std::string why_refused(int os_errno, const event::Event& event) {
  if (event::is_of_machine(event) && (os_errno == EACCES || os_errno == EPERM))
    return fmt::format(
        "the kernel refuses to count what the whole machine does: {}; root, CAP_PERFMON or "
        "kernel.perf_event_paranoid 0 allow it",
        linux::errno_text(os_errno));
  switch (os_errno) {
    case ENOENT: return "this PMU has no such event";
    case EINVAL:
      return event.group != 0 ? "the PMU cannot count it together with the others of its group"
                              : "the kernel does not accept it (Invalid argument): the event is unsupported, or "
                                "unsupported for a program";
    case EACCES:
    case EPERM:
      return fmt::format("the kernel refuses to count {}: {} ({}`tally doctor` explains)",
                         event.mode == event::Mode::user ? "it" : "in kernel mode", linux::errno_text(os_errno),
                         event.id == event::Id::page_faults ? "`page-faults:u` counts those of user mode; " : "");
    case EMFILE: return linux::why_no_more_files();
    case ENFILE: return "the whole system may open no more files (fs.file-max), and each counter is a file";
    case ESRCH: return "the thread had ended";
    default: return "the kernel refuses to count it: " + linux::errno_text(os_errno);
  }
}

Count of_core_types(const std::vector<Reading>& kinds, const CountSource& source, bool by_turns) {
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
                        ? fmt::format("counted in {}; counts of several kinds of cores are not scaled", percent)
                        : fmt::format("counted in {}, on {}'s cores only; not scaled", percent, source.text()));
}

std::string why_unreadable(int os_errno) {
  if (os_errno == ECHILD) return "its group changed while something that had inherited it was counted";
  return "its counter cannot be read";
}

std::string why_ended(int processor, Nanoseconds enabled, Nanoseconds elapsed) {
  // The two clocks differ by less than a thousandth.
  constexpr Nanoseconds least = std::chrono::milliseconds(10);
  if (elapsed - enabled <= std::max(least, elapsed / 100)) return {};
  return fmt::format("processor {} went offline after {} and is not counted from then on", processor,
                     duration_text(enabled));
}

Count of_kind(const Count& whole, const Reading& own, const std::string& core) {
  if (!whole.value) return whole;
  Count count = whole;
  count.value = own.raw;
  count.reading = own;
  count.source = CountSource::pmu(core);
  return count;
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
  for (const event::Event& event : events) {
    all_.push_back({event, encode(event, cores), 0, width_});
    width_ += all_.back().kinds.size();
  }
}

void Counters::open(const linux::PerfTarget& target) {
  targets_.push_back(target);
  const std::size_t first_read = reads_.size();
  for (EventCounters& one : all_) {
    for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) open(one, kind, target, first_read);
  }
  last_.resize(opened_.size());
}

GroupRead* leader_for(std::span<GroupRead> reads, int group, const std::string& pmu) {
  const auto found = std::find_if(reads.begin(), reads.end(), [&](const GroupRead& read) {
    return group != 0 && read.group == group && (pmu.empty() || read.pmu.empty() || read.pmu == pmu);
  });
  return found == reads.end() ? nullptr : &*found;
}

void Counters::open(EventCounters& one, std::size_t kind, linux::PerfTarget target, std::size_t first_read) {
  const std::size_t own = opened_.size();
  opened_.emplace_back();
  if (!one.kinds[kind].why_none.empty()) return;
  if (const auto processor = one.kinds[kind].processor) {
    // The first target of threads has it for all; targets of processors have their own. ESRCH: nothing to add.
    const bool is_other = target.processor >= 0 ? target.processor != *processor : targets_.size() > 1;
    const PerfStart start = target.start == PerfStart::at_exec ? PerfStart::at_once : target.start;
    opened_[own] = is_other ? linux::PerfCounter{{}, ESRCH}
                            : linux::open_counter(one.kinds[kind].event, {-1, *processor, false, start});
    if (opened_[own]) reads_.push_back({0, "", false, {own}});
    if (!opened_[own] && !is_other) one.os_errno = opened_[own].os_errno;
    return;
  }
  const int group = one.event.group;
  const std::string pmu = one.kinds[kind].event.type == linux::perf_type_software ? "" : one.kinds[kind].source.name;
  const auto of_group = [group](const auto& other) { return other.event.group == group; };
  target.whole_group = group != 0 && static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), of_group)) <=
                                         linux::largest_group_read;
  GroupRead* leader = leader_for(std::span(reads_).subspan(first_read), group, pmu);
  opened_[own] =
      open_as_allowed(one.event, one.kinds[kind].event, target, leader ? &opened_[leader->places.front()] : nullptr);
  if (!opened_[own]) {
    one.os_errno = opened_[own].os_errno;
    return;
  }
  if (leader && leader->pmu.empty()) leader->pmu = pmu;
  if (!leader || !target.whole_group) {
    reads_.push_back({group, pmu, target.whole_group, {own}});
  } else {
    leader->places.push_back(own);
  }
}

void Counters::forget(std::size_t first_target) {
  const std::size_t first = first_target * width_;
  std::erase_if(reads_, [first](const GroupRead& read) { return read.places.front() >= first; });
  targets_.resize(first_target);
  opened_.resize(first);
  last_.resize(first);
}

void Counters::enable() {
  for (const linux::PerfCounter& counter : opened_) {
    if (counter) counter.enable();
  }
  enabled_at_ = linux::now();
}

void Counters::disable() {
  if (enabled_at_) elapsed_ += linux::now() - *enabled_at_;
  enabled_at_.reset();
  for (const linux::PerfCounter& counter : opened_) {
    if (counter) counter.disable();
  }
}

int Counters::first_errno() const {
  for (const EventCounters& one : all_) {
    if (one.os_errno != 0) return one.os_errno;
  }
  return 0;
}

bool Counters::any_in_user_mode() const {
  return std::any_of(all_.begin(), all_.end(), [](const EventCounters& one) {
    return event::has_modes(event::definition(one.event.id).kind) && one.event.mode == event::Mode::user;
  });
}

std::size_t Counters::size() const {
  return static_cast<std::size_t>(
      std::count_if(opened_.begin(), opened_.end(), [](const linux::PerfCounter& one) { return bool(one); }));
}

std::vector<Count> Counters::read() {
  elapsed_at_read_ = enabled_at_ ? elapsed_ + (linux::now() - *enabled_at_) : elapsed_;
  const auto reading = [](const linux::PerfValue& value) {
    return Reading{static_cast<std::int64_t>(value.value), value.enabled, value.running};
  };
  for (const GroupRead& read : reads_) {
    const linux::PerfCounter& leader = opened_[read.places.front()];
    if (!read.whole_group) {
      const auto value = leader.read();
      last_[read.places.front()] = value ? LastReading{reading(*value), 0} : LastReading{{}, EIO};
      continue;
    }
    std::array<linux::PerfValue, linux::largest_group_read> values;
    const int why = leader.read_group(std::span(values).first(read.places.size()));
    for (std::size_t i = 0; i < read.places.size(); ++i) last_[read.places[i]] = {reading(values[i]), why};
  }
  return of(all_targets());
}

std::vector<std::size_t> Counters::all_targets() const {
  std::vector<std::size_t> all(targets_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Count> Counters::of(const std::vector<std::size_t>& targets) const {
  std::vector<Count> counts;
  counts.reserve(all_.size());
  for (const EventCounters& one : all_) counts.push_back(count_of(one, targets));
  return counts;
}

std::vector<std::pair<std::size_t, Count>> Counters::of_core(const std::string& core,
                                                             const std::vector<std::size_t>& targets) const {
  std::vector<std::pair<std::size_t, Count>> counts;
  if (!several_kinds_) return counts;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const EventCounters& one = all_[i];
    for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) {
      if (one.kinds[kind].source.name != core) continue;
      std::vector<Reading> readings;
      for (const std::size_t target : targets) {
        const std::size_t at = index_of(one, target, kind);
        if (opened_[at] && last_[at].os_errno == 0) readings.push_back(last_[at].reading);
      }
      if (readings.empty()) continue;
      counts.emplace_back(
          i, of_kind(count_of(one, targets), std::accumulate(readings.begin(), readings.end(), Reading{}), core));
    }
  }
  return counts;
}

Counters Counters::another() const {
  Counters other;
  other.all_ = all_;
  other.width_ = width_;
  other.several_kinds_ = several_kinds_;
  return other;
}

std::vector<Count> Counters::nothing() const {
  std::vector<Count> counts;
  for (const EventCounters& one : all_) {
    const std::string& why_none = one.kinds.front().why_none;
    counts.push_back(why_none.empty() ? from_reading({}, one.kinds.front().source) : absent(why_none));
  }
  return counts;
}

// Whether a counter that did not open has nothing to add: its thread had ended, or its CPU has cores of another kind.
bool Counters::is_elsewhere(const EventCounters& one, std::size_t target, std::size_t kind) const {
  const int why = opened_[index_of(one, target, kind)].os_errno;
  if (why == ESRCH) return true;
  const bool other_kind = why == EINVAL || why == ENODEV || why == ENOENT;
  const auto others = std::span(opened_).subspan(index_of(one, target, 0), one.kinds.size());
  return several_kinds_ && targets_[target].processor >= 0 && other_kind &&
         std::any_of(others.begin(), others.end(), [](const linux::PerfCounter& other) { return bool(other); });
}

// The counters of a control group are enabled only while it runs.
std::string Counters::why_target_ended(const EventCounters& one, std::size_t target) const {
  const linux::PerfTarget& on = targets_[target];
  if (on.processor < 0 || on.thread >= 0 || on.cgroup >= 0) return {};
  for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) {
    const std::size_t at = index_of(one, target, kind);
    if (opened_[at]) return why_ended(on.processor, last_[at].reading.time_enabled, elapsed_at_read_);
  }
  return {};
}

Count Counters::count_of(const EventCounters& one, const std::vector<std::size_t>& targets) const {
  for (const Encoded& encoded : one.kinds) {
    if (!encoded.why_none.empty()) return absent(encoded.why_none);
  }
  std::vector<std::vector<Reading>> readings(one.kinds.size());
  bool any = false;
  for (const std::size_t target : targets) {
    for (std::size_t kind = 0; kind < one.kinds.size(); ++kind) {
      if (is_elsewhere(one, target, kind)) continue;
      const std::size_t at = index_of(one, target, kind);
      if (!opened_[at]) return absent(why_refused(opened_[at].os_errno, one.event));
      if (last_[at].os_errno != 0) return absent(why_unreadable(last_[at].os_errno));
      readings[kind].push_back(last_[at].reading);
      any = true;
    }
  }
  if (!any) return absent(one.os_errno != 0 ? why_refused(one.os_errno, one.event) : "it was not counted");
  if (event::is_of_machine(one.event)) return of_machine(one, readings);
  Count sum = sum_of(one, readings);
  for (const std::size_t target : targets) {
    if (const std::string why = why_target_ended(one, target); !why.empty())
      sum = downgraded(std::move(sum), Trust::partial, why);
  }
  if (!doubt_.empty()) sum = downgraded(std::move(sum), Trust::partial, doubt_);
  for (const Encoded& encoded : one.kinds) {
    if (!encoded.doubt.empty()) sum = downgraded(std::move(sum), Trust::partial, encoded.doubt);
  }
  return sum;
}

// Counts in the event's unit. Those of a program are not its own.
Count Counters::of_machine(const EventCounters& counters, const std::vector<std::vector<Reading>>& readings) const {
  Reading sum;
  for (const std::vector<Reading>& kind : readings)
    for (const Reading& reading : kind) sum = sum + reading;
  sum.raw = std::llround(static_cast<double>(sum.raw) * counters.event.encoding->scale);
  Count count = from_reading(sum, counters.kinds.front().source);
  if (!doubt_.empty()) count = downgraded(std::move(count), Trust::partial, doubt_);
  if (targets_.front().processor >= 0) return count;
  return downgraded(std::move(count), Trust::partial,
                    fmt::format("of the whole machine while the program ran: {} does not count programs",
                                counters.event.encoding->pmu));
}

Count Counters::sum_of(const EventCounters& one, const std::vector<std::vector<Reading>>& readings) const {
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
  CountSource source;
  for (std::size_t kind = 0; kind < readings.size(); ++kind) {
    if (readings[kind].empty()) continue;
    kinds.push_back(std::accumulate(readings[kind].begin(), readings[kind].end(), Reading{}));
    source = combined(source, one.kinds[kind].source);
  }
  return of_core_types(kinds, source, targets_.front().processor < 0);
}

}  // namespace tally::backend::perf
