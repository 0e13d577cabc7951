// Begins and ends regions: the code that every entry executes.
#include <algorithm>
#include <limits>
#include <utility>

#include "tally/engine/channel/count_request.hpp"
#include "tally/library/region_thread.hpp"

namespace tally::detail {

namespace {

// Reads the whole group with a system call.
bool read_group(Thread& thread, std::int64_t* to) noexcept {
  std::array<linux::PerfValue, most_events> values;
  if (thread.counters.front().read_group({values.data(), thread.events}) != 0) return false;
  for (std::uint32_t i = 0; i < thread.events; ++i) to[i] = static_cast<std::int64_t>(values[i].value);
  const auto absent = static_cast<std::uint64_t>((values[0].enabled - values[0].running).count());
  if (std::exchange(thread.absent, absent) != absent) ++thread.turns;
  return true;
}

// Reads what the engine that runs this program has counted for this thread.
bool read_engine(Thread& thread, std::int64_t* to) noexcept {
  channel::AskedValues values;
  const bool models = thread.shared->asks_models;
  const std::uint64_t what = models ? channel::ask_values : channel::ask_totals;
  if (linux::ask_below(channel::ask_option, what, &values, models ? sizeof values : sizeof values.totals) != 0)
    return false;
  // Without branches: every read executes the same instructions.
  const auto if_any = [&](channel::Field unknown) {
    return -static_cast<std::uint64_t>(values.totals.field[unknown] != 0);
  };
  thread.unknown |= (if_any(channel::unknown_operations) & thread.shared->with_operations) |
                    (if_any(channel::unknown_bytes) & thread.shared->with_bytes);
  for (std::uint32_t i = 0; i < thread.events; ++i) {
    to[i] = backend::engine_value(thread.shared->events[i].id, values);
  }
  return true;
}

// A counter has moved to another register, with another offset. Changes open entries as if they had begun there.
void move_open(Thread& thread, std::size_t event) noexcept {
  const std::int64_t offset = thread.user[event].offset;
  const std::int64_t by = std::exchange(thread.base[event], offset) - offset;
  ++thread.moves;
  for (Open* open = thread.innermost; open != nullptr; open = open->outer) open->start[event] += by;
}

// Copies every page again, and reads. `held`: the values of the counters; `to`: those of their registers.
[[gnu::noinline]] bool read_again(Thread& thread, std::int64_t* to, std::int64_t* held) noexcept {
  for (int tries = 0; tries < 16; ++tries) {
    bool whole = true;
    std::uint64_t moves = thread.moves;
    for (std::uint32_t i = 0; i < thread.events && whole; ++i) {
      linux::UserCounter& counter = thread.user[i];
      if (!counter.refresh() || !counter.read(held[i])) return false;
      to[i] = held[i] - counter.offset;
      move_open(thread, i);
      ++moves;
      // A signal handler has moved counters that were read before.
      whole = thread.moves == moves;
    }
    if (whole) return true;
  }
  return false;
}

// Reads twice: the second time costs what the first did, and that is not the program's.
[[gnu::noinline]] bool read_moved(Thread& thread, std::int64_t* to) noexcept {
  std::int64_t first[most_events] = {};
  std::int64_t second[most_events] = {};
  if (!read_again(thread, to, first) || !read_again(thread, to, second)) return false;
  for (std::uint32_t i = 0; i < thread.events; ++i) {
    thread.again[i] = second[i] - first[i];
    const std::int64_t cost = thread.again[i] + thread.shared->around_again[i];
    thread.aside[i] += cost;
    for (Open* open = thread.innermost; open != nullptr; open = open->outer) {
      if (open->start != to) open->start[i] += cost;
    }
  }
  return true;
}

// Takes another path after a failed read. Open entries began on the old path; ended ones keep its overhead.
std::uint64_t fail_over(Thread& thread, Path path) noexcept {
  ++thread.turns;
  const Numbers before = not_own(thread);
  take_path(thread, path);
  const Numbers after = not_own(thread);
  for (std::uint32_t i = 0; i < thread.events; ++i) thread.aside[i] += before[i] - after[i];
  return not_read;
}

[[gnu::noinline]] std::uint64_t read_after(Thread& thread, std::int64_t* to) noexcept {
  return read_moved(thread, to) ? thread.moves : fail_over(thread, Path::group);
}

// An entry stores register values: the kernel's offset cancels if no page has changed. The lock of a page only grows.
// If lock and index are those of the copy, they never changed in between, so one check of each after all reads is
// enough. A signal handler that copies pages again changes the open entries, and `moves`.
template <Serialize how>
inline void serialize() noexcept {
  if constexpr (how == Serialize::fence) linux::wait_for_instructions();
  if constexpr (how == Serialize::cpuid) linux::wait_for_everything();
}

template <Serialize how, std::size_t... i>
inline std::uint64_t read_words(Thread& thread, std::int64_t* to, std::index_sequence<i...>) noexcept {
  const std::uint64_t moves = thread.moves;
  serialize<how>();
  ((to[i] = thread.user[i].word()), ...);
  serialize<how>();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (((thread.user[i].page->sequence ^ thread.user[i].seen) | ... | (thread.moves ^ moves)) == 0) [[likely]]
    return moves;
  return read_after(thread, to);
}

template <Serialize how, std::size_t events>
std::uint64_t read_user(Thread& thread, std::int64_t* to) noexcept {
  return read_words<how>(thread, to, std::make_index_sequence<events>());
}

// Reads by system call or from the engine. If that fails, nothing can be read any more.
std::uint64_t read_otherwise(Thread& thread, std::int64_t* to) noexcept {
  for (;;) {
    const std::uint64_t moves = thread.moves;
    const bool is_read = (thread.path == Path::group && read_group(thread, to)) ||
                         (thread.path == Path::engine && read_engine(thread, to));
    if (!is_read) return fail_over(thread, Path::none);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Otherwise a signal handler was excluded after the values were read, and `to` may be of an open entry.
    if (thread.moves == moves) return moves;
  }
}

// Not a value of Thread::turns: the entry cannot be counted.
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// The last step of every begin. What follows the read is a part of the overhead: one copy of it, for all begins.
TALLY_ONE_COPY void start(Open& open, Thread& thread, Record& record) noexcept {
  open.thread = &thread;
  open.record = &record;
  open.outer = thread.innermost;
  open.ended = thread.ended;
  open.turns = thread.turns;
  thread.innermost = &open;
  ++record.depth;
  // If it fails, the path has changed, and this entry is dropped at its end.
  (void)thread.read(thread, open.start);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // A signal handler's regions may be before or after the read: the entry is dropped.
  if (thread.ended != open.ended) [[unlikely]]
    open.turns = never;
}

[[gnu::noinline]] void begin_new(Open& open, Thread& thread, Literal name) noexcept {
  start(open, thread, find_record(thread, name));
}

[[gnu::noinline]] void begin_elsewhere(Open& open, Shared& shared, Literal name) noexcept {
  if (Thread* const thread = find_thread(shared)) {
    begin_new(open, *thread, name);
  } else {
    open.thread = nullptr;
  }
}

// Walks over open entries at the same cost for each: it is subtracted as a product.
std::int64_t count_open(const Thread& thread) noexcept {
  std::int64_t open = 0;
  for (const Open* one = thread.innermost; one != nullptr; one = one->outer) ++open;
  return open;
}

const Overhead& overhead_of(const Record& record, const Open& open) noexcept {
  return open.thread->shared->overhead[static_cast<std::size_t>(record.path)];
}

std::int64_t entries_within(const Open& open, const Reached& reached) noexcept {
  return static_cast<std::int64_t>(reached.ended - open.ended);
}

// Adds one counted entry. Its extremes are kept without the overhead of the entries within it, whose number varies.
template <std::size_t events, bool extremes>
void take(Record& record, const Open& open, const Reached& reached) noexcept {
  std::int64_t one[events + 1];
  for (std::size_t i = 0; i < events; ++i) one[i] = reached.now[i] - open.start[i];
  for (std::size_t i = 0; i < events; ++i) record.total[i].add(one[i]);
  record.unknown.set(record.unknown.get() | static_cast<std::int64_t>(open.thread->unknown));
  if constexpr (extremes) {
    const Overhead& overhead = overhead_of(record, open);
    const std::int64_t inner = entries_within(open, reached);
    for (std::size_t i = 0; i < events; ++i) one[i] -= inner * overhead.nested[i];
    for (std::size_t i = 0; i < events; ++i) record.least[i].lower(one[i]);
    for (std::size_t i = 0; i < events; ++i) record.most[i].raise(one[i]);
  }
}

// Also adds it to its bucket, without the overhead of this entry and of those within it.
template <std::size_t events, bool extremes>
void take_into_histogram(Record& record, const Open& open, const Reached& reached) noexcept {
  take<events, extremes>(record, open, reached);
  const Overhead& overhead = overhead_of(record, open);
  const std::int64_t inner = entries_within(open, reached);
  for (std::size_t i = 0; i < events; ++i) {
    const std::int64_t own = reached.now[i] - open.start[i] - overhead.own[i] - inner * overhead.nested[i];
    (*record.histograms)[i][bucket_of(own)].add(1);
  }
}

template <Serialize how, std::size_t... i>
Read unrolled_read(std::uint32_t events, std::index_sequence<i...>) {
  static constexpr Read all[] = {read_user<how, i>...};
  return all[events];
}

template <bool extremes, std::size_t... i>
Take unrolled_take(std::uint32_t events, bool histogram, std::index_sequence<i...>) {
  static constexpr Take all[] = {take<i, extremes>...};
  static constexpr Take histograms[] = {take_into_histogram<i, extremes>...};
  return histogram ? histograms[events] : all[events];
}

}  // namespace

bool read_now(Thread& thread, std::int64_t* to) noexcept {
  for (;;) {
    const std::uint64_t moves = thread.read(thread, to);
    if (moves == not_read) return false;
    for (std::uint32_t i = 0; thread.path == Path::user && i < thread.events; ++i) to[i] += thread.base[i];
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (thread.moves == moves) return true;
  }
}

Numbers not_own(const Thread& thread) noexcept {
  const Overhead& overhead = thread.shared->overhead[static_cast<std::size_t>(thread.path)];
  const std::int64_t open = count_open(thread);
  Numbers cost{};
  for (std::uint32_t i = 0; i < thread.events; ++i) {
    cost[i] = thread.aside[i] + static_cast<std::int64_t>(thread.ended) * overhead.nested[i] + open * overhead.begun[i];
  }
  return cost;
}

Excluded::Excluded(Thread& thread, Numbers Overhead::*around, bool needed) noexcept : thread_(thread), around_(around) {
  if (!needed || thread.path == Path::none) return;
  // If the first read fails, the thread has another path for the second.
  known_ = read_now(thread, before_.data()) || read_now(thread, before_.data());
  not_own_ = not_own(thread);
}

Excluded::~Excluded() {
  Numbers after;
  if (!known_ || !read_now(thread_, after.data())) return;
  const Overhead& overhead = thread_.shared->overhead[static_cast<std::size_t>(thread_.path)];
  const Numbers not_own_now = not_own(thread_);
  const std::int64_t open = count_open(thread_);
  Numbers cost{};
  for (std::uint32_t i = 0; i < thread_.events; ++i) {
    // The difference of not_own() contains copied pages and signal handlers already.
    cost[i] = after[i] - before_[i] - (not_own_now[i] - not_own_[i]);
    cost[i] += (overhead.*around_)[i];
    if (open != 0) cost[i] += overhead.first_open[i] + (open - 1) * overhead.more_open[i];
    thread_.aside[i] += cost[i];
  }
  for (Open* one = thread_.innermost; one != nullptr; one = one->outer)
    for (std::uint32_t i = 0; i < thread_.events; ++i) one->start[i] += cost[i];
  ++thread_.moves;  // a read that a signal handler interrupted with this is repeated, or its entry dropped
}

void begin(Open& open, Shared& shared, Literal name) noexcept {
  if (here.id != shared.id) [[unlikely]]
    return begin_elsewhere(open, shared, name);
  Thread& thread = *here.thread;
  const std::uint64_t key = Access::key(name);
  const Slot& slot = thread.slots[place_of(key, thread.mask)];
  if (slot.key != key) [[unlikely]]
    return begin_new(open, thread, name);
  start(open, thread, *slot.record);
}

void begin_named(Open& open, Shared& shared, std::string_view name) noexcept {
  Thread* const thread = this_thread(shared);
  open.thread = nullptr;
  if (thread != nullptr) start(open, *thread, find_record(*thread, name));
}

void enter(Open& open, Thread& thread, Record& record) noexcept { start(open, thread, record); }

void read_end(Thread& thread, Reached& reached) noexcept {
  reached.ended = thread.ended;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  reached.moves = thread.read(thread, reached.now);
}

void leave(Open& open, const Reached& reached) noexcept {
  Thread& thread = *open.thread;
  Record& record = *open.record;
  // From here on nothing changes its start values.
  thread.innermost = open.outer;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // The read may contain a signal handler's entries or not.
  const bool is_known = thread.moves == reached.moves && thread.turns == open.turns && thread.ended == reached.ended;
  ++thread.ended;
  // A recursive entry executes the same instructions as others: the regions around it subtract the same for both.
  Record* const records[] = {&record, &thread.recursive};
  const bool is_recursive = record.depth != 1;
  Record& to = *records[is_recursive ? 1 : 0];
  record.recursive.add(is_recursive ? 1 : 0);
  if (is_known) [[likely]] {
    to.entries.add(1);
    to.inner.add(entries_within(open, reached));
    to.take(to, open, reached);
  } else {
    to.dropped.add(1);
  }
  // Until here, a signal handler that enters the same region is nested in it.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --record.depth;
}

void end(Open& open) noexcept {
  if (open.thread == nullptr) [[unlikely]]
    return;
  Reached reached;
  read_end(*open.thread, reached);
  leave(open, reached);
}

void drop(Open& open) noexcept {
  if (open.thread == nullptr) return;
  Thread& thread = *open.thread;
  thread.innermost = open.outer;
  // No end of it will be subtracted from the regions around.
  const Overhead& overhead = thread.shared->overhead[static_cast<std::size_t>(thread.path)];
  for (std::uint32_t i = 0; i < thread.events; ++i) thread.aside[i] += overhead.begun[i];
  for (Open* outer = open.outer; outer != nullptr; outer = outer->outer)
    for (std::uint32_t i = 0; i < thread.events; ++i) outer->start[i] += overhead.begun[i];
  --open.record->depth;
  open.record->dropped.add(1);
}

Read read_of(Path path, std::uint32_t events, Serialize serialize) {
  constexpr auto each = std::make_index_sequence<most_events + 1>();
  if (path != Path::user) return read_otherwise;
  if (serialize == Serialize::fence) return unrolled_read<Serialize::fence>(events, each);
  if (serialize == Serialize::cpuid) return unrolled_read<Serialize::cpuid>(events, each);
  return unrolled_read<Serialize::none>(events, each);
}

Take take_of(std::uint32_t events, const Options& options) {
  constexpr auto each = std::make_index_sequence<most_events + 1>();
  // The same for all records: an entry then costs every outer region the same.
  const bool histogram = !options.histograms.empty();
  return options.extremes ? unrolled_take<true>(events, histogram, each)
                          : unrolled_take<false>(events, histogram, each);
}

}  // namespace tally::detail
