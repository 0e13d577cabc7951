#include "tally/counting/backend/perf/profile/code_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

using event::Id;
using linux::PerfStart;
using linux::PerfTarget;

// About 4,000 per second, as perf has it; a prime number, so that a program with a period of one millisecond is not
// always sampled at the same instruction.
constexpr std::uint64_t usual_frequency = 3989;

// Bytes of the rings of all CPUs together, and of one. A ring for process records is a quarter of it.
constexpr std::size_t profile_memory_limit = 64 << 20, profile_ring_limit = 2 << 20, least_profile_pages = 8;

bool is_fault(Id id) {
  return id == Id::page_faults || id == Id::user_page_faults || id == Id::minor_faults || id == Id::major_faults;
}

linux::PerfSampling perf_sampling(const result::EventSampling& how, bool calls) {
  linux::PerfSampling sampling;
  sampling.period = how.every != 0 ? how.every : how.frequency;
  sampling.by_frequency = how.every == 0;
  sampling.fields = linux::code_record_fields(calls, how.every > 1);
  sampling.ordered = true;
  sampling.users_calls_only = how.user_only;
  sampling.precise = how.precise;
  return sampling;
}

/// Returns the period of all events, because --every applies to all; 0 if there is none, or if every event is a sample.
std::uint64_t fixed_period(const CodeEvents& events) {
  return events.events.empty() || events.events.front().sampling.every <= 1 ? 0 : events.events.front().sampling.every;
}

/// Returns how close to the counted instruction the PMU can sample: 0 if it does not report that (Documentation/ABI/
/// testing/sysfs-bus-event_source-devices-caps). Arm's driver accepts any level, and has none.
int most_precise(const std::string& pmu) {
  const auto level = parse_integer(linux::content("/sys/bus/event_source/devices/" + pmu + "/caps/max_precise"));
  return level ? static_cast<int>(std::clamp<std::int64_t>(*level, 0, 2)) : 0;
}

/// Finds the settings with which the kernel opens the event; returns 0, or the errno with which it refuses.
int try_event(CodeEvents::SampledEvent& one, bool calls) {
  const PerfTarget here{0, -1, false, PerfStart::when_enabled};
  while (true) {
    const linux::PerfCounter counter = linux::open_sampled(one.kinds.front(), here, perf_sampling(one.sampling, calls));
    if (counter) return 0;
    if (one.sampling.precise > 0) {
      --one.sampling.precise;
    } else if ((counter.os_errno == EACCES || counter.os_errno == EPERM) && !one.sampling.user_only &&
               !one.kinds.front().kernel_only) {
      one.sampling.user_only = true;
      for (linux::PerfEvent& kind : one.kinds) kind.user_only = true;
    } else {
      return counter.os_errno;
    }
  }
}

Result<CodeEvents::SampledEvent> code_event(const event::Event& event, const Order::Profile& profile,
                                            const std::vector<linux::PmuDevice>& cores) {
  const auto refused = [&](const std::string& why, int os_errno = 0) {
    return fail(Code::cannot_measure, fmt::format("{} cannot be sampled: {}", printable(event.asked), why),
                "`tally doctor` shows what can be counted here", os_errno);
  };
  const bool is_software = event::definition(event.id).kind == event::Kind::software;
  if (is_software && !is_fault(event.id) && !event::is_clock(event))
    return refused("it happens in the kernel, at no instruction of the program");
  CodeEvents::SampledEvent one;
  for (const Encoded& kind : encode(event, cores)) {
    if (!kind.why_none.empty()) return refused(kind.why_none);
    one.kinds.push_back(kind.event);
    if (profile.sampling.user_only) one.kinds.back().user_only = true;
    one.source = combined(one.source, kind.source);
    one.doubt = kind.doubt;
  }
  one.sampling.by_hardware = !is_software;
  one.sampling.user_only = one.kinds.front().user_only;
  one.sampling.every = profile.sampling.every;
  one.sampling.frequency = profile.sampling.frequency;
  if (!profile.sampling.any())
    (is_fault(event.id) ? one.sampling.every : one.sampling.frequency) = is_fault(event.id) ? 1 : usual_frequency;
  if (one.sampling.by_hardware) one.sampling.precise = most_precise(one.source.name);
  const int why = try_event(one, profile.calls);
  if (why == EINVAL && one.sampling.every == 0)
    return refused(
        fmt::format("the kernel does not allow {} samples per second (kernel.perf_event_max_sample_rate is {})",
                    one.sampling.frequency, linux::content("/proc/sys/kernel/perf_event_max_sample_rate")),
        why);
  if (why != 0) return refused(why_refused(why, event), why);
  return one;
}

// This CPU has no cores of the counter's kind.
bool is_elsewhere(int os_errno) { return os_errno == EINVAL || os_errno == ENOENT || os_errno == ENODEV; }

tl::unexpected<Error> not_opened(int os_errno) {
  if (os_errno == EMFILE) return fail(Code::cannot_measure, linux::why_no_more_files(), "", EMFILE);
  const bool is_denied = os_errno == EACCES || os_errno == EPERM;
  return fail(Code::cannot_measure,
              "the kernel does not open a counter for samples (perf_event_open): " + linux::errno_text(os_errno),
              is_denied
                  ? "only root or CAP_PERFMON may count other users' processes; `tally doctor` shows what you may "
                    "count"
                  : "`tally doctor` explains more",
              os_errno);
}

}  // namespace

Result<CodeEvents> code_events(const Order& order, const std::vector<linux::PmuDevice>& cores) {
  CodeEvents sampled;
  sampled.calls = order.has_calls();
  for (const event::Event& event : order.events) {
    auto one = code_event(event, *order.profile(), cores);
    if (!one) return fail(one.error());
    sampled.events.push_back(*std::move(one));
  }
  return sampled;
}

CodeCounters::CodeCounters(const CodeEvents& events)
    : events_(events), rings_([calls = events.calls, period = fixed_period(events)](const linux::RingRecord& record) {
        return linux::code_record(record, calls, period);
      }) {
  const auto all = static_cast<std::size_t>(std::max(linux::configured_processors(), 1L));
  const std::size_t page = linux::page_bytes();
  pages_ = least_profile_pages;
  while (pages_ * 2 * page <= profile_ring_limit && pages_ * 2 * page * all <= profile_memory_limit) pages_ *= 2;
}

Result<void> CodeCounters::open_events(const PerfTarget& target, std::vector<Opened>& opened) const {
  for (std::size_t e = 0; e < events_.events.size(); ++e) {
    const CodeEvents::SampledEvent& one = events_.events[e];
    linux::PerfSampling sampling = perf_sampling(one.sampling, events_.calls);
    sampling.wakeup_bytes = static_cast<std::uint32_t>(pages_ * linux::page_bytes() / 4);
    int why = 0;
    bool any = false;
    for (const linux::PerfEvent& kind : one.kinds) {
      linux::PerfCounter counter = linux::open_sampled(kind, target, sampling);
      if (!counter) why = counter.os_errno;
      if (!counter && !(one.kinds.size() > 1 && is_elsewhere(counter.os_errno))) return not_opened(counter.os_errno);
      if (!counter) continue;
      opened.push_back({std::move(counter), e});
      any = true;
    }
    if (!any) return not_opened(why);
  }
  return {};
}

// Maps rings as large as the kernel permits to the user.
Result<void> CodeCounters::map_rings(int processor, std::size_t first) {
  while (true) {
    auto process_records = linux::SampleRing::map(counters_[first].counter, std::max<std::size_t>(pages_ / 4, 1));
    auto samples =
        process_records ? linux::SampleRing::map(counters_[first + 1].counter, pages_) : std::move(process_records);
    if (process_records && samples) {
      rings_.add(std::move(*process_records));
      rings_.add(std::move(*samples));
      processors_.push_back({processor, first, first + 1});
      return {};
    }
    if (pages_ <= least_profile_pages || samples.error().os_errno != EPERM) return fail(samples.error());
    pages_ /= 2;
  }
}

Result<void> CodeCounters::open_on(std::int32_t thread, int processor, PerfStart start) {
  const PerfTarget target{thread, processor, thread >= 0, start};
  const linux::PerfEvent nothing{linux::perf_type_software, static_cast<std::uint64_t>(linux::KernelEvent::dummy),
                                 true};
  linux::PerfSampling sampling = perf_sampling({}, events_.calls);
  sampling.period = 0;
  sampling.by_frequency = false;
  sampling.report_threads = sampling.report_mappings = true;
  // Process records arrive only while their counter is on: from the start of the command, or at once.
  PerfTarget always = target;
  if (start == PerfStart::when_enabled) always.start = PerfStart::at_once;
  std::vector<Opened> opened;
  opened.push_back({linux::open_sampled(nothing, always, sampling), none});
  const int why = opened.front().counter.os_errno;
  if (why == ENODEV) return {};  // the CPU is offline
  if (why == ESRCH) return fail(Code::cannot_measure, "the thread has ended", "", ESRCH);
  if (why != 0) return not_opened(why);
  if (auto others = open_events(target, opened); !others) return others;
  const std::size_t first = counters_.size();
  std::move(opened.begin(), opened.end(), std::back_inserter(counters_));
  const auto known = std::find_if(processors_.begin(), processors_.end(),
                                  [&](const CpuCounters& one) { return one.processor == processor; });
  const bool is_new = known == processors_.end();
  if (is_new)
    if (auto mapped = map_rings(processor, first); !mapped) return mapped;
  const CpuCounters& rings = is_new ? processors_.back() : *known;
  for (std::size_t i = first; i < counters_.size(); ++i) {
    const std::size_t into = counters_[i].event == none ? rings.process_records : rings.samples;
    if (i != into) counters_[i].counter.write_into(counters_[into].counter);
  }
  return {};
}

Result<void> CodeCounters::open(std::int32_t thread, PerfStart start) {
  const std::size_t before = counters_.size();
  everywhere_ = thread < 0;
  for (int processor = 0; processor < linux::configured_processors(); ++processor) {
    auto opened = open_on(thread, processor, start);
    if (opened) continue;
    counters_.erase(counters_.begin() + static_cast<std::ptrdiff_t>(before), counters_.end());
    return opened;
  }
  if (processors_.empty()) return fail(Code::cannot_measure, "there is no processor to count on", "");
  return {};
}

void CodeCounters::enable() const {
  for (const Opened& one : counters_)
    if (one.event != none) one.counter.enable();
}

void CodeCounters::disable() const {
  for (const Opened& one : counters_) one.counter.disable();
}

void CodeCounters::name_counters(const std::function<void(std::uint64_t, std::size_t)>& use_counter) const {
  for (const Opened& one : counters_)
    if (one.event != none) use_counter(one.counter.id(), one.event);
}

std::vector<int> CodeCounters::descriptors() const {
  std::vector<int> all;
  for (const CpuCounters& one : processors_)
    all.insert(all.end(), {counters_[one.process_records].counter.fd.get(), counters_[one.samples].counter.fd.get()});
  return all;
}

linux::PerfValue CodeCounters::total(std::size_t event) const {
  linux::PerfValue sum;
  for (const Opened& one : counters_) {
    if (one.event != event) continue;
    const linux::PerfValue value = one.counter.read().value_or(linux::PerfValue{});
    sum.value += value.value;
    sum.enabled += value.enabled;
    sum.running += value.running;
  }
  // A thread's counter on one CPU waits while the thread runs on another.
  if (!everywhere_ && !processors_.empty()) sum.enabled /= static_cast<std::int64_t>(processors_.size());
  return sum;
}

}  // namespace tally::backend::perf
