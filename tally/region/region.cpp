// Where a region begins and ends: what every entry executes.
#include <algorithm>
#include <utility>

#include "tally/channel/asking.hpp"
#include "tally/region/thread.hpp"

namespace tally::detail {

thread_local constinit Here here;

namespace {

// What the kernel gives for a whole group.
bool read_group(Thread& thread, std::int64_t* to) noexcept {
  std::array<linux::PerfValue, most_events> values;
  if (thread.counters.front().read_group({values.data(), thread.events}) != 0) return false;
  for (std::uint32_t i = 0; i < thread.events; ++i) to[i] = static_cast<std::int64_t>(values[i].value);
  const auto absent = static_cast<std::uint64_t>((values[0].enabled - values[0].running).count());
  if (std::exchange(thread.absent, absent) != absent) ++thread.turns;
  return true;
}

// What the engine that the program runs under has counted of this thread.
bool read_engine(Thread& thread, std::int64_t* to) noexcept {
  channel::Totals totals;
  if (linux::ask_below(channel::ask_option, channel::ask_totals, &totals, sizeof totals) != 0) return false;
  for (std::uint32_t i = 0; i < thread.events; ++i) {
    to[i] = backend::engine_value(thread.shared->events[i].id, totals);
  }
  return true;
}

inline bool read_user(Thread& thread, std::int64_t* to) noexcept {
  linux::UserCounter* counter = thread.user.data();
  for (const linux::UserCounter* const end = counter + thread.events; counter != end; ++counter, ++to) {
    if (!counter->read(*to)) return false;
  }
  return true;
}

bool read_otherwise(Thread& thread, std::int64_t* to) noexcept {
  if (thread.path == Path::group && read_group(thread, to)) return true;
  if (thread.path == Path::engine && read_engine(thread, to)) return true;
  take_path(thread, thread.path == Path::user ? Path::group : Path::none);
  return false;
}

inline bool read(Thread& thread, std::int64_t* to) noexcept {
  if (thread.path == Path::user && read_user(thread, to)) [[likely]]
    return true;
  return read_otherwise(thread, to);
}

inline void start(Open& open, Thread& thread, Record& record) noexcept {
  open.thread = &thread;
  open.record = &record;
  open.outer = thread.innermost;
  open.ended = thread.ended;
  thread.innermost = &open;
  ++record.depth;
  // Where it fails the path is another one now, and this entry is dropped at its end.
  read(thread, open.start);
  open.turns = thread.turns;
}

// One entry that was counted.
inline void take(Record& record, const Thread& thread, const Open& open, const std::int64_t* now) noexcept {
  record.taking = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record.entries.add(1);
  record.inner.add(static_cast<std::int64_t>(thread.ended - open.ended - 1));
  for (std::uint32_t i = 0; i < thread.events; ++i) record.total[i].add(now[i] - open.start[i]);
  if (thread.extremes) {
    for (std::uint32_t i = 0; i < thread.events; ++i) {
      const std::int64_t one = now[i] - open.start[i];
      record.least[i].set(std::min(one, record.least[i].get()));
      record.most[i].set(std::max(one, record.most[i].get()));
    }
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record.taking = 0;
}

}  // namespace

bool read_now(Thread& thread, std::int64_t* to) noexcept { return read(thread, to); }

void begin(Open& open, Shared& shared, const char* literal) noexcept {
  Thread* const thread = this_thread(shared);
  open.thread = nullptr;
  if (thread == nullptr) [[unlikely]]
    return;
  const Slot& slot = thread->slots[place_of(literal, thread->mask)];
  start(open, *thread, slot.literal == literal ? *slot.record : find_record(*thread, literal));
}

void begin_named(Open& open, Shared& shared, std::string_view name) noexcept {
  Thread* const thread = this_thread(shared);
  open.thread = nullptr;
  if (thread != nullptr) start(open, *thread, find_record(*thread, name));
}

void end(Open& open) noexcept {
  if (open.thread == nullptr) [[unlikely]]
    return;
  Thread& thread = *open.thread;
  Record& record = *open.record;
  std::int64_t now[most_events];
  const bool known = read(thread, now);
  thread.innermost = open.outer;
  ++thread.ended;
  if (--record.depth != 0) {
    record.recursive.add(1);
    return;
  }
  if (known && record.path == thread.path && open.turns == thread.turns && record.taking == 0) [[likely]]
    take(record, thread, open, now);
  else
    record.dropped.add(1);
}

}  // namespace tally::detail
