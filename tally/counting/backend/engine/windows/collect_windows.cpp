#include "tally/counting/backend/engine/windows/collect_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "tally/counting/backend/engine/count/collect_sources.hpp"
#include "tally/counting/backend/engine/count/snapshot.hpp"
#include "tally/counting/backend/engine/profile/code_whereabouts.hpp"
#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/counting/backend/engine/ring_memory.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/counting/backend/engine/windows/code_vectors.hpp"
#include "tally/counting/backend/engine/windows/window_cycles.hpp"
#include "tally/counting/backend/engine/windows/window_places.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/worker_thread.hpp"

namespace tally::backend::engine {
namespace {

using channel::NoteRing;
using channel::RingContent;
using channel::WindowRow;

/// The state of a thread's ring.
struct Reader {
  std::optional<RingMemory> memory;  // nothing after its thread closed it
  std::uint32_t begun = 0, taken_rows = 0;
  std::uint32_t open_rows = 0, open_bytes = 0;  // taken of the block that is not published
  bool is_open = false;                         // its thread has begun, and not closed it
  bool counted = false;                         // its windows have started, and not stopped
  std::array<std::int64_t, channel::weight_limit>
      sums{};               // kept for another thread that reuses the record, because it continues the sums
  std::int64_t before = 0;  // the first sum when its thread began
  std::uint64_t path = 0;   // the hash of the last row
  CodeVector vector;
  std::vector<LoggedWords> executed;  // in this window; only if rows wait for their cycles
};

}  // namespace

channel::Windows windows_of(const Order& order, const Modelling& modelling, channel::Marks& marks) {
  channel::Windows made{};
  const Order::Windows* const windows = order.windows();
  made.on = 1;
  made.bounded = windows->is_bounded() ? 1 : 0;
  made.waits = windows->bounds.start || windows->trap != CodeRegion::Trap::none ? 1 : 0;
  made.repeats = windows->repeats ? 1 : 0;
  const WindowPlaces places = window_places(order, modelling);
  made.vectors = windows->vectors || places.cycles ? 1 : 0;
  if (const auto& path = windows->path) {
    made.paths = 1;
    made.reads = path->recording != nullptr ? 1 : 0;
    made.first = path->first;
    made.most = path->most;
  }
  for (const WindowTrigger& trigger : windows->triggers) {
    channel::WindowTrigger& one = made.trigger[made.triggers++];
    one.every = trigger.every != 0 ? trigger.every : channel::window_event_limit;
    const std::size_t place = places.triggers[made.triggers - 1];
    weigh(trigger.event.id, marks.weight[place]);
    std::copy_n(marks.weight[place], channel::mark_fields, one.weight);
  }
  for (const event::Event& event : order.events) {
    if (!places.unknown) break;
    const Amounts amounts = amounts_of(event.id);
    std::int8_t* const weight = marks.weight[*places.unknown];
    if (amounts.operations) weight[channel::unknown_operations] = 1;
    if (amounts.bytes) weight[channel::unknown_bytes] = 1;
  }
  if (places.cycles) {
    marks.modelled = 1;
    for (const auto& [figure, place] : places.cycles->statistics)
      marks.weight[place][channel::mark_fields + figure] = 1;
  }
  marks.events = static_cast<std::uint32_t>(places.count);
  return made;
}

class WindowRows::Work {
 public:
  Work(const Channel& shared, const Order& order, const Modelling& modelling, Nanoseconds started)
      : shared_(shared),
        bell_(shared.records.header().wakeup),
        asked_(*order.windows()),
        settings_(shared.records.header().settings),
        places_(window_places(order, modelling)),
        whereabouts_(shared),
        blocks_(shared),
        started_(started) {
    if (places_.cycles) cycles_.emplace(shared, modelling, blocks_, *places_.cycles, !asked_.is_bounded());
    result::WindowsHead head;
    head.command = order.target.command;
    for (const WindowTrigger& trigger : asked_.triggers)
      head.triggers.push_back({event::event_name(trigger.event), trigger.every, 0});
    const auto marked = marked_events(order, modelling);
    for (std::size_t i = 0; i < marked.size(); ++i) {
      const MarkedEvent& one = marked[i];
      Count count =
          places_.events[i]
              ? count_of(*one.event, CollectedTotals{}, modelling.simulation ? &*modelling.simulation : nullptr)
              : absent(one.reason.empty() ? "there is no room for it with this many events" : one.reason);
      head.events.push_back(event_count(*one.event, std::move(count)));
    }
    head.places = places_.events;
    if (asked_.trap != CodeRegion::Trap::none) head.start = head.stop = trap_name(asked_.trap);
    if (asked_.bounds.start) head.start = asked_.bounds.start->text;
    if (asked_.bounds.stop) head.stop = asked_.bounds.stop->text;
    head.named = asked_.places;
    if (asked_.sink.on_begin) asked_.sink.on_begin(head);
    thread_ = linux::worker_thread([this] { work(); });
    if (takes_open_) ticker_ = linux::worker_thread([this] { tick(); });
  }

  void ended(std::uint32_t thread) {
    {
      const std::lock_guard lock(mutex_);
      ended_.push_back(thread);
    }
    ring();
  }

  std::uint64_t started() const { return started_threads_; }
  std::uint64_t stopped() const { return stopped_threads_; }
  std::uint64_t lost() const { return lost_rows_; }

  void finish() {
    if (!thread_.joinable()) return;
    __atomic_store_n(&bell_.closed, 1, __ATOMIC_SEQ_CST);
    {
      const std::lock_guard lock(mutex_);
      finishing_ = true;
    }
    tick_.notify_all();
    ring();
    thread_.join();
    if (ticker_.joinable()) ticker_.join();
    const std::uint32_t threads = claimed_threads(shared_);
    for (std::uint32_t thread = 1; thread <= threads; ++thread) cut(thread);
    if (cycles_) lost_rows_ = cycles_->emit_all(asked_.sink.on_window);
  }

 private:
  void ring() {
    __atomic_add_fetch(&bell_.rings, 1, __ATOMIC_SEQ_CST);
    linux::wake_all(bell_.rings);
  }

  void work() {
    while (true) {
      const std::uint32_t rings = __atomic_load_n(&bell_.rings, __ATOMIC_SEQ_CST);
      const bool last = finishing_;
      if (collect()) continue;
      if (cut_ended()) continue;
      if (last) return;
      if (const auto now = Clock::now(); takes_open_ && now - took_open_ >= longest_wait) {
        took_open_ = now;
        take_open();
      }
      __atomic_add_fetch(&bell_.sleepers, 1, __ATOMIC_SEQ_CST);
      if (__atomic_load_n(&bell_.first, __ATOMIC_SEQ_CST) == 0 && !finishing_) linux::sleep_while(bell_.rings, rings);
      __atomic_sub_fetch(&bell_.sleepers, 1, __ATOMIC_SEQ_CST);
    }
  }

  /// Wakes work() again and again: a program that waits publishes nothing.
  void tick() {
    std::unique_lock lock(mutex_);
    while (!finishing_) {
      tick_.wait_for(lock, longest_wait);
      ring();
    }
  }

  /// Takes rows that threads wrote and did not publish.
  void take_open() {
    const std::uint32_t threads = claimed_threads(shared_);
    for (std::uint32_t thread = 1; thread <= threads; ++thread) {
      if (shared_.records.thread(thread).state != channel::State::running) continue;
      Reader* const reader = reader_of(channel::ring_number(thread, RingContent::windows));
      if (reader == nullptr) continue;
      begin(*reader);
      if (reader->is_open && reader->memory->waiting() == 0) take_written(thread, *reader);
    }
  }

  /// Takes the rows at the beginning of the block that is not published.
  void take_written(std::uint32_t thread, Reader& reader) {
    const std::uint32_t open = __atomic_load_n(&reader.memory->head().published, __ATOMIC_ACQUIRE);
    bool is_first = true;  // without a row, the code may not be logged
    for (std::uint32_t at = reader.open_bytes;; ++reader.open_rows) {
      reader.open_bytes = at;
      const auto found = row_at(*reader.memory, open, at);
      if (!found || __atomic_load_n(&found->row->number, __ATOMIC_ACQUIRE) != reader.taken_rows + 1) return;
      if (std::exchange(is_first, false)) refresh(thread);
      take(thread, reader, *found);
    }
  }

  /// Takes the rows in the rings of the engines' list. Returns false if the list was empty.
  bool collect() {
    std::uint32_t number = __atomic_exchange_n(&bell_.first, 0, __ATOMIC_SEQ_CST);
    if (number == 0) return false;
    std::vector<std::uint32_t> found;
    while (number != 0 && number < channel::rings_of_thread * channel::thread_limit &&
           found.size() < readers_.size() + 2) {
      Reader* const reader = reader_of(number);
      if (reader == nullptr) break;
      found.push_back(number);
      number = reader->memory->head().next;
    }
    for (auto at = found.rbegin(); at != found.rend(); ++at) serve(*at);
    return true;
  }

  /// Cuts the last windows of threads that ended without closing their rings. Returns false if there were none.
  bool cut_ended() {
    std::vector<std::uint32_t> threads;
    {
      const std::lock_guard lock(mutex_);
      threads.swap(ended_);
    }
    for (const std::uint32_t thread : threads) cut(thread);
    return !threads.empty();
  }

  /// Returns the ring's state with its memory mapped; null if that fails.
  Reader* reader_of(std::uint32_t number) {
    if (channel::held_by_ring(number) != RingContent::windows) return nullptr;
    Reader& reader = readers_[number];
    if (!reader.memory) reader.memory = RingMemory::map(shared_, number);
    return reader.memory ? &reader : nullptr;
  }

  void serve(std::uint32_t number) {
    Reader& reader = readers_.at(number);
    RingMemory& memory = *reader.memory;
    __atomic_store_n(&memory.head().queued, 0, __ATOMIC_SEQ_CST);
    begin(reader);
    if (memory.waiting() > channel::note_blocks) return memory.pass_over();  // An engine cannot have written this.
    while (memory.waiting() != 0) {
      refresh(channel::thread_of_ring(number));  // the thread may publish more meanwhile
      const std::uint32_t block = memory.head().taken;
      const channel::NoteBlock about = memory.about(block);
      std::uint32_t at = std::exchange(reader.open_bytes, 0);
      for (std::uint32_t i = std::exchange(reader.open_rows, 0); i < about.count; ++i) {
        const auto row = row_at(memory, block, at);
        if (!row) break;
        take(channel::thread_of_ring(number), reader, *row);
      }
      if (about.closes != 0) return close(number, reader, block + 1);
      memory.take(block);
    }
  }

  /// The code of these rows was logged before they were written.
  void refresh(std::uint32_t thread) {
    if (asked_.places) whereabouts_.refresh(shared_.records.thread(thread).process);
  }

  /// Nothing more comes from the thread; from here on another one may use its record.
  void close(std::uint32_t number, Reader& reader, std::uint32_t published) {
    reader.is_open = false;
    RingMemory::discard(shared_, number);
    reader.memory->leave(published);
    reader.memory.reset();
  }

  void begin(Reader& reader) const {
    const std::uint32_t begun = __atomic_load_n(&reader.memory->head().begun, __ATOMIC_ACQUIRE);
    if (reader.begun == begun) return;
    reader.begun = begun;
    reader.is_open = true;
    reader.taken_rows = reader.open_rows = reader.open_bytes = 0;
    reader.executed.clear();
    reader.before = reader.sums[0];
    (void)reader.vector.take();
    reader.counted = settings_.windows.bounded == 0;
  }

  struct RowInBlock {
    const WindowRow* row;
    std::uint32_t words;  // read once: the program may overwrite it
  };

  /// Returns the row at this offset of a block, and advances the offset; nothing if a row does not fit.
  std::optional<RowInBlock> row_at(const RingMemory& memory, std::uint32_t block, std::uint32_t& at) const {
    const std::uint32_t head = channel::window_row_bytes(events());
    if (at + head > channel::note_block_bytes) return std::nullopt;
    const auto* const row = reinterpret_cast<const WindowRow*>(memory.block(block) + at);
    const std::uint32_t words = __atomic_load_n(&row->words, __ATOMIC_RELAXED);
    if (words > (channel::note_block_bytes - at - head) / sizeof(std::uint64_t)) return std::nullopt;
    at += channel::window_row_bytes(events(), words);
    return RowInBlock{row, words};
  }

  std::uint32_t events() const { return settings_.marks.events; }

  void take(std::uint32_t thread, Reader& reader, const RowInBlock& found) {
    const WindowRow& row = *found.row;
    if (row.ended_by == channel::window_read) return take_read(thread, reader, found);
    if (found.words != 0 && reader.counted)
      add_words(reader, row.log, {reinterpret_cast<const std::uint64_t*>(&row.sum[0] + events()), found.words});
    if (row.ended_by == channel::window_part) return;
    if (row.ended_by == channel::window_starts) {
      std::copy_n(row.sum, events(), reader.sums.begin());
      reader.counted = true;
      ++started_threads_;
      return;
    }
    if (!reader.counted) return;
    if (row.ended_by == channel::window_stops) {
      reader.counted = false;
      ++stopped_threads_;
      const bool is_empty = std::equal(row.sum, row.sum + events(), reader.sums.begin());
      if (is_empty && settings_.windows.repeats == 0) return;
    }
    reader.path = row.path;
    emit(thread, reader, row.number, static_cast<std::int64_t>(row.time_ns), row.ended_by, row.cpu, row.address,
         row.sum);
    reader.taken_rows = row.number;
  }

  std::optional<WindowRead::Location> place_of(std::uint32_t process, std::uint64_t address) {
    const auto place = whereabouts_.find(process, address);
    return place ? std::optional(WindowRead::Location{*place->file, place->offset}) : std::nullopt;
  }

  void take_read(std::uint32_t thread, const Reader& reader, const RowInBlock& found) {
    if (!asked_.sink.on_read || found.row->cpu >= channel::source_count) return;
    const std::uint32_t process = shared_.records.thread(thread).process;
    std::span<const std::uint64_t> callers{reinterpret_cast<const std::uint64_t*>(&found.row->sum[0] + events()),
                                           found.words};
    WindowRead read{thread, source_name(found.row->cpu), found.row->sum[0], found.row->path};
    read.where = place_of(process, found.row->address);
    if (read.where && read.where->file.path == "[vdso]" && !callers.empty()) {
      read.where = place_of(process, callers.front() - 1);
      callers = callers.subspan(1);
    }
    for (const std::uint64_t address : callers) {
      auto place = place_of(process, address - 1);
      if (!place || !place->file.is_file() || (read.where && place->file.path == read.where->file.path)) continue;
      read.caller = std::move(place);
      break;
    }
    read.instructions -= reader.before;
    asked_.sink.on_read(read);
  }

  void add_words(Reader& reader, std::uint32_t log, std::span<const std::uint64_t> words) {
    if (asked_.vectors) reader.vector.add(blocks_, log, words);
    if (!cycles_) return;
    if (reader.executed.empty() || reader.executed.back().log != log) reader.executed.push_back({log, {}});
    std::vector<std::uint64_t>& all = reader.executed.back().words;
    all.insert(all.end(), words.begin(), words.end());
  }

  void emit(std::uint32_t thread, Reader& reader, std::uint64_t number, std::int64_t time_ns, std::uint32_t ended_by,
            int cpu, std::uint64_t address, const std::int64_t* sums, bool killed = false) {
    std::array<std::int64_t, channel::weight_limit + 1> counts{};
    for (std::uint32_t e = 0; e < events(); ++e) {
      counts[e] = sums[e] - reader.sums[e];
      reader.sums[e] = sums[e];
    }
    const channel::Thread& record = shared_.records.thread(thread);
    result::Window window;
    window.series = thread;
    window.number = number;
    window.time = Nanoseconds(time_ns) - started_;
    if (ended_by < places_.triggers.size()) window.trigger = ended_by;
    window.length = counts[places_.triggers[window.trigger.value_or(0)]];
    if (record.process < channel::process_limit) {
      const channel::Process& process = shared_.records.process(record.process);
      window.pid = process.pid;
      window.partial = __atomic_load_n(&process.partial, __ATOMIC_RELAXED) != 0;
      window.program = std::string_view(process.name, ::strnlen(process.name, sizeof process.name));
    }
    window.tid = record.tid;
    window.partial = window.partial || killed || (places_.unknown && counts[*places_.unknown] != 0);
    window.cpu = cpu;
    window.address = address;
    window.process = record.process;
    window.path = killed ? 0 : reader.path;
    if (asked_.places && address != 0) {
      if (const auto place = whereabouts_.find(record.process, address)) {
        window.file = place->file;
        window.offset = place->offset;
      }
    }
    const std::vector<result::BlockCount> vector = reader.vector.take();
    window.vector = vector;
    window.counts = std::span(counts).first(places_.count + (cycles_ ? 1 : 0));
    if (!cycles_) return asked_.sink.on_window(window);
    const auto owner = reader.executed.empty() ? std::nullopt : blocks_.process_of(reader.executed.front().log);
    cycles_->keep(window, owner.value_or(record.process), reader.executed);
    reader.executed.clear();
  }

  /// Ends a thread that has ended without closing its ring, which is not needed any more.
  void cut(std::uint32_t thread) {
    if (shared_.records.thread(thread).state == channel::State::free) return;
    const std::uint32_t number = channel::ring_number(thread, RingContent::windows);
    Reader* const reader = reader_of(number);
    if (reader == nullptr) return;
    serve(number);
    if (reader->memory && reader->memory->head().open != 0) take_rest(thread, *reader);
    reader->is_open = false;
    reader->memory.reset();
  }

  /// Takes rows that the thread wrote and did not publish, and what it counted after them.
  void take_rest(std::uint32_t thread, Reader& reader) {
    refresh(thread);
    take_written(thread, reader);
    if (!reader.counted) return;
    const auto sums = sums_of(thread);
    if (std::equal(sums.begin(), sums.begin() + events(), reader.sums.begin())) return;
    // The instruction that ended the thread may have completed its window.
    std::uint32_t ended_by = 0;
    const auto is_full = [&](std::uint32_t trigger) {
      const std::size_t place = places_.triggers[trigger];
      return static_cast<std::uint64_t>(sums[place] - reader.sums[place]) >= settings_.windows.trigger[trigger].every;
    };
    while (ended_by < places_.triggers.size() && !is_full(ended_by)) ++ended_by;
    if (ended_by == places_.triggers.size()) ended_by = channel::window_cut;
    emit(thread, reader, reader.taken_rows + 1, linux::now().count(), ended_by, -1, 0, sums.data(),
         shared_.records.thread(thread).state != channel::State::ended);
  }

  /// Returns the sums of a thread from its counters and models.
  std::array<std::int64_t, channel::weight_limit> sums_of(std::uint32_t thread) const {
    const channel::Totals totals = totals_of(thread, shared_);
    channel::ModelCounts models{};
    if (settings_.models.on != 0)
      (void)linux::read_at(shared_.file.get(), channel::model_counts_offset(thread), &models, sizeof models);
    const auto statistics =
        std::bit_cast<std::array<std::uint64_t, channel::mark_values - channel::mark_fields>>(models.values);
    std::array<std::int64_t, channel::weight_limit> sums{};
    for (std::uint32_t e = 0; e < events(); ++e) {
      const std::int8_t* const weight = settings_.marks.weight[e];
      for (std::uint32_t i = 0; i < channel::mark_fields; ++i) sums[e] += weight[i] * totals.field[i];
      for (std::uint32_t i = 0; i < statistics.size(); ++i)
        sums[e] += weight[channel::mark_fields + i] * static_cast<std::int64_t>(statistics[i]);
    }
    return sums;
  }

  const Channel& shared_;
  channel::RingWakeup& bell_;
  const Order::Windows& asked_;
  const channel::Settings settings_;
  const WindowPlaces places_;
  CodeLocator whereabouts_;
  CodeBlocks blocks_;
  std::optional<WindowCycles> cycles_;
  const Nanoseconds started_;
  std::map<std::uint32_t, Reader> readers_;
  std::uint64_t started_threads_ = 0, stopped_threads_ = 0, lost_rows_ = 0;
  std::mutex mutex_;
  std::vector<std::uint32_t> ended_;  // guarded by mutex_
  std::atomic<bool> finishing_ = false;
  std::condition_variable tick_;
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds longest_wait{200};
  Clock::time_point took_open_ = {};  // of work()
  // Not if rows in a part of the ring that is used again may have the number of the next one.
  const bool takes_open_ =
      settings_.windows.vectors == 0 && settings_.windows.reads == 0 && settings_.windows.bounded == 0;
  std::thread thread_, ticker_;
};

WindowRows::WindowRows(const Channel& shared, const Order& order, const Modelling& modelling, Nanoseconds started)
    : work_(std::make_unique<Work>(shared, order, modelling, started)) {}

WindowRows::~WindowRows() { finish(); }

void WindowRows::ended(std::uint32_t thread) { work_->ended(thread); }

void WindowRows::finish() { work_->finish(); }

std::uint64_t WindowRows::started() const { return work_->started(); }

std::uint64_t WindowRows::stopped() const { return work_->stopped(); }

std::uint64_t WindowRows::lost() const { return work_->lost(); }

}  // namespace tally::backend::engine
