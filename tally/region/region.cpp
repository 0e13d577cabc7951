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

// What the processor's counter says, with its sign. An entry keeps this alone: the kernel's offset falls out.
inline std::int64_t signed_word(const linux::UserCounter& counter, std::uint64_t word) {
  return static_cast<std::int64_t>(word << counter.shift) >> counter.shift;
}

// A counter was put elsewhere, and its offset is another: entries that are open are to be as if they had begun there.
void move_open(Thread& thread, std::size_t event, std::int64_t by) noexcept {
  ++thread.moves;
  for (Open* open = thread.innermost; open != nullptr; open = open->outer) open->start[event] += by;
}

// Copies every page anew, and reads. `held` is what counters hold, `to` what their registers say.
[[gnu::noinline]] bool read_anew(Thread& thread, std::int64_t* to, std::int64_t* held) noexcept {
  for (int tries = 0; tries < 16; ++tries) {
    bool whole = true;
    std::uint64_t moves = thread.moves;
    for (std::uint32_t i = 0; i < thread.events && whole; ++i) {
      linux::UserCounter& counter = thread.user[i];
      const std::int64_t before = counter.offset;
      if (!counter.refresh() || !counter.read(held[i])) return false;
      to[i] = held[i] - counter.offset;
      move_open(thread, i, before - counter.offset);
      ++moves;
      // A signal's handler has moved what was read before.
      whole = thread.moves == moves;
    }
    if (whole) return true;
  }
  return false;
}

// Done twice: what the second time costs is what the first one did, and that is not the program's.
[[gnu::noinline]] bool read_moved(Thread& thread, std::int64_t* to) noexcept {
  std::int64_t first[most_events] = {};
  std::int64_t second[most_events] = {};
  if (!read_anew(thread, to, first) || !read_anew(thread, to, second)) return false;
  for (std::uint32_t i = 0; i < thread.events; ++i) {
    thread.anew[i] = second[i] - first[i];
    for (Open* open = thread.innermost; open != nullptr; open = open->outer) {
      if (open->start != to) open->start[i] += thread.anew[i] + thread.shared->around_anew[i];
    }
  }
  return true;
}

// Where lock and index stand as they stood when the page was copied, they have never changed: the lock only grows. So
// one look behind the read is enough.
template <std::size_t i>
inline bool read_one(const Thread& thread, std::int64_t* to) noexcept {
  const linux::UserCounter& counter = thread.user[i];
  const volatile linux::CounterPage* const page = counter.page;
  const std::uint64_t of = counter.seen;
  to[i] = signed_word(counter, counter.raw(of));
  return page->sequence == of;
}

template <std::size_t... i>
inline bool read_all(const Thread& thread, [[maybe_unused]] std::int64_t* to, std::index_sequence<i...>) noexcept {
  return (read_one<i>(thread, to) && ...);
}

bool read_behind(Thread& thread, std::int64_t* to) noexcept;

template <std::size_t events>
bool read_user(Thread& thread, std::int64_t* to) noexcept {
  const std::uint64_t moves = thread.moves;
  if (read_all(thread, to, std::make_index_sequence<events>())) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (thread.moves == moves) [[likely]]
      return true;
  }
  return read_behind(thread, to);
}

// By system calls, and by the last way that is left.
bool read_otherwise(Thread& thread, std::int64_t* to) noexcept {
  if (thread.path == Path::group && read_group(thread, to)) return true;
  if (thread.path == Path::engine && read_engine(thread, to)) return true;
  take_path(thread, Path::none);
  return false;
}

bool read_behind(Thread& thread, std::int64_t* to) noexcept {
  if (read_moved(thread, to)) return true;
  take_path(thread, Path::group);
  return false;
}

// The last act of every begin: nothing of this code's own comes behind the read.
inline void start(Open& open, Thread& thread, Record& record) noexcept {
  open.thread = &thread;
  open.record = &record;
  open.outer = thread.innermost;
  open.ended = thread.ended;
  open.turns = thread.turns;
  thread.innermost = &open;
  ++record.depth;
  // Where it fails the path is another one now, and this entry is dropped at its end.
  (void)thread.ways.read(thread, open.start);
}

[[gnu::noinline]] void begin_new(Open& open, Thread& thread, const char* literal) noexcept {
  start(open, thread, find_record(thread, literal));
}

[[gnu::noinline]] void begin_elsewhere(Open& open, Shared& shared, const char* literal) noexcept {
  if (Thread* const thread = find_thread(shared)) {
    begin_new(open, *thread, literal);
  } else {
    open.thread = nullptr;
  }
}

// One entry that was counted.
template <bool extremes>
inline void take_one(Totals& of, std::int64_t one) noexcept {
  of.total.add(one);
  if constexpr (extremes) {
    of.least.set(std::min(one, of.least.get()));
    of.most.set(std::max(one, of.most.get()));
  }
}

template <bool extremes, std::size_t... i>
inline void take_all(Record& record, const Open& open, const std::int64_t* now, std::index_sequence<i...>) noexcept {
  (take_one<extremes>(record.of[i], now[i] - open.start[i]), ...);
}

template <std::size_t events, bool extremes>
void take(Record& record, const Thread& thread, const Open& open, const std::int64_t* now) noexcept {
  record.taking = 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record.entries.add(1);
  record.inner.add(static_cast<std::int64_t>(thread.ended - open.ended - 1));
  take_all<extremes>(record, open, now, std::make_index_sequence<events>());
  std::atomic_signal_fence(std::memory_order_seq_cst);
  record.taking = 0;
}

template <std::size_t... i>
Ways unrolled(Path path, std::uint32_t events, bool extremes, std::index_sequence<i...>) {
  static constexpr Ways all[] = {{read_user<i>, take<i, false>}...};
  static constexpr Ways with_extremes[] = {{read_user<i>, take<i, true>}...};
  Ways ways = extremes ? with_extremes[events] : all[events];
  if (path != Path::user) ways.read = read_otherwise;
  return ways;
}

}  // namespace

bool read_now(Thread& thread, std::int64_t* to) noexcept {
  if (!thread.ways.read(thread, to)) return false;
  for (std::uint32_t i = 0; thread.path == Path::user && i < thread.events; ++i) to[i] += thread.user[i].offset;
  return true;
}

void begin(Open& open, Shared& shared, const char* literal) noexcept {
  if (here.id != shared.id) [[unlikely]]
    return begin_elsewhere(open, shared, literal);
  Thread& thread = *here.thread;
  const Slot& slot = thread.slots[place_of(literal, thread.mask)];
  if (slot.literal != literal) [[unlikely]]
    return begin_new(open, thread, literal);
  start(open, thread, *slot.record);
}

void begin_named(Open& open, Shared& shared, std::string_view name) noexcept {
  Thread* const thread = this_thread(shared);
  open.thread = nullptr;
  if (thread != nullptr) start(open, *thread, find_record(*thread, name));
}

void enter(Open& open, Thread& thread, Record& record) noexcept { start(open, thread, record); }

void read_end(Thread& thread, Reached& reached) noexcept { reached.known = thread.ways.read(thread, reached.now); }

inline void leave(Open& open, bool known, const std::int64_t* now) noexcept {
  Thread& thread = *open.thread;
  Record& record = *open.record;
  thread.innermost = open.outer;
  ++thread.ended;
  if (--record.depth != 0) {
    record.recursive.add(1);
    return;
  }
  if (known && record.path == thread.path && open.turns == thread.turns && record.taking == 0) [[likely]] {
    thread.ways.take(record, thread, open, now);
  } else {
    record.dropped.add(1);
  }
}

void leave(Open& open, const Reached& reached) noexcept { leave(open, reached.known, reached.now); }

void end(Open& open) noexcept {
  if (open.thread == nullptr) [[unlikely]]
    return;
  std::int64_t now[most_events];
  const bool known = open.thread->ways.read(*open.thread, now);
  leave(open, known, now);
}

void drop(Open& open) noexcept {
  if (open.thread == nullptr) return;
  open.thread->innermost = open.outer;
  --open.record->depth;
  open.record->dropped.add(1);
}

Ways ways_of(Path path, std::uint32_t events, bool extremes) {
  return unrolled(path, events, extremes, std::make_index_sequence<most_events + 1>());
}

}  // namespace tally::detail
