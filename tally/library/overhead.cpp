// Measures the overhead of reading counters, with empty regions.
#include <algorithm>
#include <vector>

#include "tally/library/region_thread.hpp"

namespace tally::detail {
namespace {

constexpr int warm_up = 5;
constexpr int measurements = 31;

// A measurement that an interrupt disturbed is repeated. If one entry cost more than all others, and these cost the
// same, the difference is the interrupt's and not the cost of reading.
constexpr int tries = 3;

struct Middle {
  std::int64_t value;
  std::int64_t spread;
  bool interrupted;
};

Middle middle(std::vector<std::int64_t>& all) {
  std::sort(all.begin(), all.end());
  const std::int64_t spread = all.back() - all.front();
  return {all[all.size() / 2], spread, spread > 0 && all.size() > 2 && all.front() == all[all.size() - 2]};
}

// Enters a region as a caller does, with the same instructions around it.
[[gnu::noinline]] void empty_region(Counters& counters) {
  const Region region{counters, TALLY_NOTHING};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around_region(Counters& counters) {
  const Region region{counters, TALLY_AROUND_NOTHING};
  const Region inner{counters, TALLY_NOTHING};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

[[gnu::noinline]] void around_named_region(Counters& counters) {
  const Region region{counters, TALLY_AROUND_NOTHING};
  const Region inner{counters, std::string_view(TALLY_NOTHING)};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Calls `enter` repeatedly. Returns the counts of each entry, by event, from the record's totals.
template <class Enter>
std::vector<std::vector<std::int64_t>> entries(Thread& thread, const Record& record, Enter enter) {
  std::vector<std::vector<std::int64_t>> values(thread.events);
  for (int i = 0; i < warm_up + measurements; ++i) {
    Numbers before{};
    for (std::uint32_t e = 0; e < thread.events; ++e) before[e] = record.total[e].get();
    const std::int64_t counted = record.entries.get();
    enter();
    if (i < warm_up || record.entries.get() == counted) continue;
    for (std::uint32_t e = 0; e < thread.events; ++e) values[e].push_back(record.total[e].get() - before[e]);
  }
  return values;
}

// Calls `between` repeatedly. Returns the differences of the two readings in it, by event.
template <class Between>
std::vector<std::vector<std::int64_t>> readings(Counters& counters, const Thread& thread, Between between) {
  std::vector<std::vector<std::int64_t>> values(thread.events);
  for (int i = 0; i < warm_up + measurements; ++i) {
    const Values counted = between(counters);
    for (std::uint32_t e = 0; e < thread.events && i >= warm_up; ++e)
      values[e].push_back(counted.events[e].count.value.value_or(0));
  }
  return values;
}

[[gnu::noinline]] Values two_readings(Counters& counters) {
  const Values before = counters.read();
  return counters.read() - before;
}

[[gnu::noinline]] Values two_readings_in_a_region(Counters& counters) {
  const Region region{counters, TALLY_NOTHING};
  const Values before = counters.read();
  return counters.read() - before;
}

[[gnu::noinline]] Values two_readings_in_two_regions(Counters& counters) {
  const Region region{counters, TALLY_AROUND_NOTHING};
  const Region inner{counters, TALLY_NOTHING};
  const Values before = counters.read();
  return counters.read() - before;
}

[[gnu::noinline]] Values around_a_beginning(Counters& counters) {
  const Values before = counters.read();
  const Region region{counters, TALLY_NOTHING};
  return counters.read() - before;
}

// Enters a literal for the first time. It is found by its address, so its characters may be known.
[[gnu::noinline]] void around_new_region(Counters& counters, const char* place) {
  const Region region{counters, TALLY_AROUND_NOTHING};
  const Region inner{counters, Access::in_place(place)};
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Readings and new records measure their own cost each time, except what is outside of their two counter reads.
// Measures that part.
void calibrate_readings(Counters& counters, Thread& thread, const Entries& as_program) {
  Overhead& overhead = thread.shared->overhead[static_cast<std::size_t>(thread.path)];
  const auto take = [&](Numbers& to, std::vector<std::vector<std::int64_t>> values) {
    for (std::uint32_t e = 0; e < thread.events; ++e) to[e] = middle(values[e]).value;
  };
  overhead.reading = overhead.first_open = overhead.more_open = {};
  overhead.begun = overhead.making = overhead.finding = overhead.ending = {};
  take(overhead.reading, readings(counters, thread, two_readings));
  take(overhead.first_open, readings(counters, thread, two_readings_in_a_region));
  take(overhead.more_open, readings(counters, thread, two_readings_in_two_regions));
  take(overhead.begun, readings(counters, thread, around_a_beginning));
  static const char places[warm_up + measurements] = {};
  const char* next = places;
  const auto take_difference = [&](Numbers& to, auto enter) {
    take(to, entries(thread, find_record(thread, TALLY_AROUND_NOTHING), enter));
    for (std::uint32_t e = 0; e < thread.events; ++e) to[e] -= overhead.own[e] + overhead.nested[e];
  };
  take_difference(overhead.making, [&] { as_program.around_new(counters, next++); });
  take_difference(overhead.finding, [&] { as_program.around_named_begin(counters); });
  take_difference(overhead.ending, [&] { as_program.around_named(counters); });
}

[[gnu::noinline]] void forget(linux::UserCounter* counters, std::uint32_t events) {
  for (std::uint32_t i = 0; i < events; ++i) counters[i].seen = 0;
}

// Measures which part of its cost a read leaves out when the pages have changed: Shared::around_again.
void calibrate_again(Thread& thread) {
  linux::UserCounter others[most_events];
  std::copy_n(thread.user, most_events, others);
  std::vector<std::vector<std::int64_t>> more(thread.events);
  for (int i = 0; i < warm_up + measurements; ++i) {
    Numbers between[2] = {};
    for (linux::UserCounter* counters : {others, thread.user}) {
      Numbers before, after;
      if (thread.read(thread, before.data()) == not_read) return;
      forget(counters, thread.events);
      if (thread.read(thread, after.data()) == not_read) return;
      Numbers& cost = between[counters == thread.user ? 1 : 0];
      for (std::uint32_t e = 0; e < thread.events; ++e) cost[e] = after[e] - before[e];
    }
    for (std::uint32_t e = 0; e < thread.events && i >= warm_up; ++e)
      more[e].push_back(between[1][e] - between[0][e] - thread.again[e]);
  }
  for (std::uint32_t e = 0; e < thread.events; ++e) thread.shared->around_again[e] = middle(more[e]).value;
}

// Returns whether an interrupt disturbed it.
bool calibrate_once(Counters& counters, Thread& thread, const Entries& as_program) {
  Overhead& overhead = thread.shared->overhead[static_cast<std::size_t>(thread.path)];
  const Path path = thread.path;
  auto own = entries(thread, find_record(thread, std::string_view(TALLY_NOTHING)), [&] { as_program.empty(counters); });
  auto both = entries(thread, find_record(thread, std::string_view(TALLY_AROUND_NOTHING)),
                      [&] { as_program.around(counters); });
  if (thread.path != path || own.empty() || own.front().empty() || both.front().empty()) return false;
  bool interrupted = false;
  for (std::uint32_t e = 0; e < thread.events; ++e) {
    const Middle one = middle(own[e]);
    const Middle two = middle(both[e]);
    overhead.own[e] = one.value;
    overhead.own_spread[e] = one.spread;
    overhead.nested[e] = two.value - one.value;
    overhead.nested_spread[e] = two.spread;
    interrupted = interrupted || one.interrupted || two.interrupted;
  }
  overhead.known = true;
  return interrupted;
}

void calibrate_path(Counters& counters, Thread& thread, const Entries& as_program) {
  as_program.around(counters);
  for (int i = 0; i < tries && calibrate_once(counters, thread, as_program); ++i) {
  }
  calibrate_readings(counters, thread, as_program);
}

}  // namespace

void calibrate(Counters& counters, const Entries& as_program) {
  Thread* const thread = this_thread(Access::shared(counters));
  if (thread == nullptr) return;
  thread->shared->calibrates = true;
  const Path own = thread->path;
  // A thread that can no longer read in user mode uses system calls: their cost is then known.
  if (own == Path::user) {
    take_path(*thread, Path::group);
    calibrate_path(counters, *thread, as_program);
    take_path(*thread, own);
  }
  calibrate_path(counters, *thread, as_program);
  if (own == Path::user) calibrate_again(*thread);
  const std::lock_guard guard(thread->shared->lock);
  for (auto& known : thread->by_name) known.clear();
  take_path(*thread, own);
  thread->has_readings = false;
  thread->records.clear();
  thread->own_records.clear();
  thread->shared->calibrates = false;
  thread->shared->names.clear();
  thread->shared->numbers.clear();
}

void begin_at_nothing(Thread& thread) {
  Numbers now;
  if (!read_now(thread, now.data())) return;
  const Numbers cost = not_own(thread);
  for (std::uint32_t i = 0; i < thread.events; ++i) thread.aside[i] += now[i] - cost[i];
}

void calibrate(Counters& counters) {
  calibrate(counters, {empty_region, around_region, around_named_region, around_named_region, around_new_region});
}

void calibrate_reading(Counters& counters, const std::function<Numbers()>& between) {
  Thread* const thread = this_thread(Access::shared(counters));
  if (thread == nullptr) return;
  std::vector<std::vector<std::int64_t>> values(thread->events);
  for (int i = 0; i < warm_up + measurements; ++i) {
    const Numbers counted = between();
    for (std::uint32_t e = 0; e < thread->events && i >= warm_up; ++e) values[e].push_back(counted[e]);
  }
  Numbers& reading = thread->shared->overhead[static_cast<std::size_t>(thread->path)].reading;
  for (std::uint32_t e = 0; e < thread->events; ++e) reading[e] += middle(values[e]).value;
}

}  // namespace tally::detail