#include "tally/backend/perf/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

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

Counters::Counters(const std::vector<event::Event>& events, const std::vector<linux::PmuDevice>& cores) {
  for (const event::Event& event : events) all_.push_back({event, encode(event, cores), 0, {}});
}

void Counters::open(const linux::PerfTarget& target) {
  for (One& one : all_) {
    if (!one.encoded.why_none.empty()) continue;
    const linux::PerfCounter* leader = leader_of(one);
    linux::PerfCounter counter = open_as_allowed(one.event, one.encoded.event, target, leader);
    if (!counter) one.os_errno = counter.os_errno;
    one.opened.push_back(std::move(counter));
  }
}

// The first of the group whose counter for this target is open: every event has one entry for each target.
const linux::PerfCounter* Counters::leader_of(const One& member) const {
  if (member.event.group == 0) return nullptr;
  for (const One& one : all_) {
    if (&one == &member) return nullptr;
    if (one.event.group != member.event.group || one.opened.size() <= member.opened.size()) continue;
    if (const linux::PerfCounter& counter = one.opened[member.opened.size()]) return &counter;
  }
  return nullptr;
}

void Counters::enable() const {
  for (const One& one : all_) {
    for (const linux::PerfCounter& counter : one.opened) {
      if (counter) counter.enable();
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
    for (const linux::PerfCounter& counter : one.opened) open += counter ? 1 : 0;
  }
  return open;
}

std::vector<Count> Counters::read() const {
  std::vector<Count> counts;
  for (const One& one : all_) counts.push_back(count_of(one));
  return counts;
}

Count Counters::count_of(const One& one) const {
  if (!one.encoded.why_none.empty()) return absent(one.encoded.why_none);
  std::optional<Count> sum;
  for (const linux::PerfCounter& counter : one.opened) {
    // A thread that was gone when its counter was to be opened has nothing to add.
    if (counter.os_errno == ESRCH) continue;
    if (!counter) return absent(why_refused(counter.os_errno, one.event));
    const auto value = counter.read();
    if (!value) return absent("its counter cannot be read");
    const Count count =
        from_reading({static_cast<std::int64_t>(value->value), value->enabled, value->running}, one.encoded.source);
    sum = sum ? *sum + count : count;
  }
  if (!sum) return absent(one.os_errno != 0 ? why_refused(one.os_errno, one.event) : "it was not counted");
  return one.encoded.doubt.empty() ? *sum : downgraded(*std::move(sum), Trust::partial, one.encoded.doubt);
}

}  // namespace tally::backend::perf
