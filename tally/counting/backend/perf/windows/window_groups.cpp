#include "tally/counting/backend/perf/windows/window_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

using linux::PerfCounter;
using linux::PerfEvent;
using linux::PerfSampling;
using linux::PerfStart;
using linux::PerfTarget;

// Bytes of the rings of all CPUs, and of one, to buffer a burst. A ring for final counts of threads has an eighth.
constexpr std::size_t memory_limit = 64 << 20, ring_limit = 4 << 20, least_pages = 8;

struct Opened {
  PerfCounter counter;
  PerfEvent event;
};

// Opens a counter on this thread, and never starts it. A clock has the same value in user mode alone.
Opened open_here(PerfEvent event, bool clock, const PerfCounter* leader) {
  const PerfTarget here{0, -1, false, PerfStart::when_enabled};
  Opened opened{linux::open_counter(event, here, leader), event};
  if (opened.counter.os_errno != EACCES || !clock) return opened;
  opened.event.user_only = true;
  opened.counter = linux::open_counter(opened.event, here, leader);
  return opened;
}

// The kernel refuses a higher frequency with EINVAL, which would not explain it.
Result<void> check_frequency(std::uint64_t frequency) {
  const char* const name = "kernel.perf_event_max_sample_rate";
  const auto most = parse_integer(trimmed(linux::content("/proc/sys/kernel/perf_event_max_sample_rate")));
  if (!most || frequency <= static_cast<std::uint64_t>(*most)) return {};
  return fail(Code::cannot_measure,
              fmt::format("--frequency {}: this kernel allows at most {} ({})", frequency, *most, name),
              fmt::format("run `sysctl {}={}` as root to allow it", name, frequency));
}

tl::unexpected<Error> not_opened(const PerfCounter& counter) {
  if (counter.os_errno == EMFILE) return fail(Code::cannot_measure, linux::why_no_more_files(), "", EMFILE);
  return fail(
      Code::cannot_measure,
      "the kernel does not open a counter for windows (perf_event_open): " + linux::errno_text(counter.os_errno),
      "`tally doctor` explains more", counter.os_errno);
}

}  // namespace

PerfSampling sampling_of(const WindowEvents& events) {
  PerfSampling sampling{events.frequency != 0 ? events.frequency : events.every, linux::sample_record_fields};
  sampling.by_frequency = events.frequency != 0;
  sampling.ordered = true;
  return sampling;
}

Result<WindowEvents> window_events(const Order& order, const std::vector<linux::PmuDevice>& cores) {
  if (order.windows()->triggers.size() != 1)
    return fail(Code::bad_usage, "only the engine supports several --every",
                "give one; -e adds the counts of other events to each row");
  const WindowTrigger& asked = order.windows()->triggers.front();
  if (auto fits = check_frequency(asked.frequency); !fits) return fail(fits.error());
  const std::string trigger = event::name(asked.event);
  const auto refused = [&](const std::string& why) {
    return fail(Code::cannot_measure, fmt::format("cannot end windows by {}: {}", trigger, why),
                "`tally doctor` shows what can be counted here");
  };
  const auto kinds = encode(asked.event, cores);
  if (kinds.size() > 1) return refused("hybrid processor: each core type counts only its own events");
  if (!kinds.front().why_none.empty()) return refused(kinds.front().why_none);
  WindowEvents opened;
  opened.every = asked.every;
  opened.frequency = asked.frequency;
  opened.is_clock = event::is_clock(asked.event);
  opened.source = kinds.front().source;
  std::vector<PerfCounter> open;
  open.reserve(2 + order.events.size());
  for (int i = 0; i < 2; ++i) {
    Opened one = open_here(kinds.front().event, opened.is_clock, open.empty() ? nullptr : &open.front());
    if (!one.counter) return refused(why_refused(one.counter.os_errno, asked.event));
    opened.trigger = one.event;
    open.push_back(std::move(one.counter));
  }
  opened.head.command = order.target.command;
  opened.head.triggers.push_back({event::event_name(asked.event), asked.every, asked.frequency});
  for (const event::Event& event : order.events) {
    const auto own = encode(event, cores);
    Count count = absent("this processor has several kinds of cores, and each counts only its own events");
    opened.places.emplace_back();
    if (own.size() == 1 && own.front().event == kinds.front().event && own.front().why_none.empty()) {
      count = from_reading({}, own.front().source);
      opened.places.back() = 0;
    } else if (own.size() == 1 && !own.front().why_none.empty()) {
      count = absent(own.front().why_none);
    } else if (own.size() == 1) {
      Opened one = open_here(own.front().event, event::is_clock(event), &open.front());
      if (one.counter) {
        count = from_reading({}, own.front().source);
        if (!own.front().doubt.empty()) count = downgraded(std::move(count), Trust::partial, own.front().doubt);
        opened.others.push_back(one.event);
        opened.places.back() = opened.others.size();
        open.push_back(std::move(one.counter));
      } else {
        count = absent(one.counter.os_errno == EINVAL ? "the PMU cannot count it together with the others"
                                                      : why_refused(one.counter.os_errno, event));
      }
    }
    opened.head.events.push_back(event_count(event, std::move(count)));
  }
  return opened;
}

bool can_inherit_samples(const WindowEvents& events) {
  PerfTarget target{0, 0, true, PerfStart::when_enabled};
  target.whole_group = true;
  const PerfCounter counter = linux::open_sampled(events.trigger, target, sampling_of(events));
  return counter || counter.os_errno != EINVAL;
}

Result<std::vector<PerfCounter>> WindowGroups::open_group(std::int32_t thread, int processor, PerfStart start) const {
  PerfTarget target{thread, processor, true, start};
  target.whole_group = true;
  PerfSampling sampling = sampling_of(events_);
  // TakenCounters needs the mappings.
  sampling.report_threads = sampling.report_mappings = true;
  sampling.wakeup_bytes = static_cast<std::uint32_t>(std::max(ring_bytes_, least_pages * linux::page_bytes()) / 4);
  std::vector<PerfCounter> group;
  group.push_back(linux::open_sampled(events_.trigger, target, sampling));
  if (!group.front()) return std::vector<PerfCounter>(std::move(group));
  sampling.report_threads = sampling.report_mappings = false;
  sampling.report_counts = true;
  sampling.period = 0;
  sampling.by_frequency = false;
  sampling.wakeup_bytes /= 8;
  const auto add = [&](const PerfEvent& event) {
    PerfCounter counter = linux::open_sampled(event, target, sampling, &group.front());
    if (!counter) return counter.os_errno;
    group.push_back(std::move(counter));
    return 0;
  };
  int why = add(events_.trigger);
  for (std::size_t i = 0; i < events_.others.size() && why == 0; ++i) why = add(events_.others[i]);
  if (why != 0) return not_opened({{}, why});
  return group;
}

// Maps rings as large as the kernel permits to the user. The final counts of threads have a ring of their own: the
// kernel writes them from the CPU on which a thread ends (perf_event_exit_event), and a ring supports one writer only.
Result<void> WindowGroups::add_rings(int processor, const std::vector<PerfCounter>& group) {
  const std::size_t page = linux::page_bytes();
  const auto initial_pages = [&] {
    const auto all = static_cast<std::size_t>(std::max(linux::configured_processors(), 1L));
    std::size_t pages = least_pages;
    while (pages * 2 * page <= ring_limit && pages * 2 * page * all <= memory_limit) pages *= 2;
    return pages;
  };
  for (std::size_t pages = ring_bytes_ != 0 ? ring_bytes_ / page : initial_pages();; pages /= 2) {
    auto samples = linux::SampleRing::map(group[0], pages);
    auto counts = samples ? linux::SampleRing::map(group[1], std::max<std::size_t>(pages / 8, 1)) : std::move(samples);
    if (samples && counts) {
      processors_.push_back({processor, rings_.size(), rings_.size() + 1, group[0].fd.get(), group[1].fd.get()});
      rings_.add(std::move(*samples));
      rings_.add(std::move(*counts));
      ring_bytes_ = pages * page;
      break;
    }
    if (pages <= least_pages || counts.error().os_errno != EPERM) return fail(counts.error());
  }
  return {};
}

Result<void> WindowGroups::find_processors(std::int32_t thread, PerfStart start) {
  for (int processor = 0; processor < linux::configured_processors(); ++processor) {
    auto group = open_group(thread, processor, start);
    if (!group) return fail(group.error());
    if (group->front().os_errno == ENODEV) continue;  // the CPU is offline
    if (!group->front()) return not_opened(group->front());
    if (auto added = add_rings(processor, *group); !added) return added;
    for (std::size_t i = 2; i < group->size(); ++i) (*group)[i].write_into((*group)[1]);
    for (PerfCounter& counter : *group) counters_.push_back(std::move(counter));
  }
  if (processors_.empty()) return fail(Code::cannot_measure, "there is no processor to count on", "");
  return {};
}

Result<void> WindowGroups::open(std::int32_t thread, PerfStart start) {
  if (processors_.empty()) return find_processors(thread, start);
  const std::size_t whole = counters_.size();
  for (const CpuCounters& one : processors_) {
    auto group = open_group(thread, one.processor, start);
    if (!group || !group->front()) {
      counters_.erase(counters_.begin() + static_cast<std::ptrdiff_t>(whole), counters_.end());
      return group ? not_opened(group->front()) : fail(group.error());
    }
    const std::size_t first = static_cast<std::size_t>(&one - processors_.data()) * width();
    (*group)[0].write_into(counters_[first]);
    for (std::size_t i = 1; i < group->size(); ++i) (*group)[i].write_into(counters_[first + 1]);
    for (PerfCounter& counter : *group) counters_.push_back(std::move(counter));
  }
  return {};
}

void WindowGroups::name_counters(
    const std::function<void(std::uint64_t, std::size_t, std::size_t, std::size_t)>& use_counter) const {
  for (std::size_t i = 0; i < counters_.size(); ++i)
    use_counter(counters_[i].id(), i / width() / processors(), i / width() % processors(), i % width());
}

void WindowGroups::enable(std::size_t first_root) const {
  for (std::size_t i = first_root * width() * processors(); i < counters_.size(); i += width()) counters_[i].enable();
}

void WindowGroups::close_after(std::size_t roots) {
  counters_.erase(counters_.begin() + static_cast<std::ptrdiff_t>(roots * width() * processors()), counters_.end());
}

void WindowGroups::disable() const {
  for (std::size_t i = 0; i < counters_.size(); i += width()) counters_[i].disable();
}

std::vector<int> WindowGroups::descriptors() const {
  std::vector<int> all;
  for (const CpuCounters& one : processors_) all.insert(all.end(), {one.samples_fd, one.counts_fd});
  return all;
}

void WindowGroups::take(std::int64_t until_ns, const std::function<void(const linux::SampleRecord&)>& visit) {
  rings_.take(until_ns, visit);
}

std::vector<linux::PerfValue> WindowGroups::totals() const {
  std::vector<linux::PerfValue> values;
  for (std::size_t i = 0; i < counters_.size(); ++i)
    values.push_back(i % width() == 0 ? linux::PerfValue{} : counters_[i].read().value_or(linux::PerfValue{}));
  return values;
}

}  // namespace tally::backend::perf
