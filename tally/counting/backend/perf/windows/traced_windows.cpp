#include "tally/counting/backend/perf/windows/traced_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tally/linux/machine/pages.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

// Bytes of all rings together, and of one thread's ring while there is memory for it.
constexpr std::size_t traced_memory_limit = 64 << 20, traced_ring_limit = 512 << 10, least_traced_pages = 8;
// Time between two reads of the rings. At the highest rate of a thread (a record of 100 bytes each microsecond) a ring
// is full a little later.
constexpr int traced_poll_ms = 4;

}  // namespace

TracedWindows::~TracedWindows() {
  if (reader_) reader_->finish();
}

Result<void> TracedWindows::open_command(pid_t child) {
  first_ = child;
  ended_.resize(1 + events_.others.size());
  const int why = linux::follower::seize(child);
  if (why == 0) return {};
  return fail(
      Code::cannot_measure,
      "cannot count the threads of the program separately: it cannot be traced (ptrace): " + linux::errno_text(why),
      "Linux 6.12 and later need no tracing", why);
}

Result<void> TracedWindows::begin(Nanoseconds started) {
  started_ = started;
  result::WindowsHead head = events_.head;
  head.places = events_.places;
  if (order_.windows()->sink.on_begin) order_.windows()->sink.on_begin(head);
  auto reader = WindowReader::start(
      {},
      [this] {
        const std::lock_guard lock(mutex_);
        take_all();
      },
      traced_poll_ms);
  if (!reader) return fail(reader.error());
  reader_ = std::move(*reader);
  return {};
}

void TracedWindows::map_ring(Thread& thread) {
  const std::size_t page = linux::page_bytes();
  std::size_t bytes = traced_ring_limit;
  while (bytes > least_traced_pages * page && ring_bytes_ + bytes > traced_memory_limit / 2) bytes /= 2;
  for (; bytes >= page && ring_bytes_ + bytes <= traced_memory_limit; bytes /= 2) {
    auto ring = linux::SampleRing::map(thread.group.front(), bytes / page);
    if (!ring && ring.error().os_errno == EPERM) continue;
    if (ring) {
      thread.ring = std::make_unique<linux::SampleRing>(std::move(*ring));
      ring_bytes_ += thread.ring_bytes = bytes;
    }
    break;
  }
  if (!thread.ring) ++without_ring_;
}

// Starts to count a thread, which is stopped before its first instruction.
void TracedWindows::follow(const linux::Sight& sight) {
  process_of_[sight.thread] = sight.process;
  Thread thread;
  thread.process = sight.process;
  thread.program = sight.name;
  thread.last.resize(ended_.size());
  linux::PerfTarget target{sight.thread, -1, false, linux::PerfStart::when_enabled};
  target.whole_group = true;
  linux::PerfSampling sampling = sampling_of(events_);
  thread.group.push_back(linux::open_sampled(events_.trigger, target, sampling));
  sampling.period = 0;
  sampling.by_frequency = false;
  for (std::size_t i = 0; i < events_.others.size() && thread.group.back(); ++i)
    thread.group.push_back(linux::open_sampled(events_.others[i], target, sampling, &thread.group.front()));
  if (!thread.group.back()) {
    ++uncounted_;
    return;
  }
  map_ring(thread);
  thread.group.front().enable();
  living_.insert_or_assign(sight.thread, std::move(thread));
}

// When a thread calls execve, the process continues with that thread alone, under the ID of its first thread.
void TracedWindows::execute(const linux::Sight& sight) {
  std::vector<pid_t> ended;
  for (const auto& [number, thread] : living_)
    if (thread.process == sight.process && number != sight.former) ended.push_back(number);
  for (const pid_t number : ended) end(number);
  auto continuing = living_.extract(sight.former);
  if (!continuing) return follow(sight);
  take(sight.former, continuing.mapped());
  continuing.key() = sight.process;
  // The current window belongs to the new program.
  continuing.mapped().program = sight.name;
  continuing.mapped().series = 0;
  continuing.mapped().windows = 0;
  living_.insert(std::move(continuing));
}

void TracedWindows::emit(pid_t number, Thread& thread, result::Window window, const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> delta(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) delta[i] = values[i] - thread.last[i];
  if (!window.trigger && std::all_of(delta.begin(), delta.end(), [](std::int64_t one) { return one == 0; })) return;
  thread.last = values;
  if (thread.series == 0) thread.series = ++series_;
  window.series = thread.series;
  window.program = thread.program;
  window.number = ++thread.windows;
  window.length = delta[0];
  window.pid = thread.process;
  window.tid = number;
  window.counts = delta;
  const auto every = static_cast<std::int64_t>(events_.every);
  const std::int64_t periods = every == 0 ? 0 : window.length / every;
  if (window.trigger && thread.gap) window.lost = std::max<std::int64_t>(periods - 1, 0);
  if (!window.trigger) window.lost = std::max<std::int64_t>(periods, 0);
  thread.gap = false;
  lost_ += window.lost;
  order_.windows()->sink.on_window(window);
}

void TracedWindows::sample(pid_t number, Thread& thread, const linux::SampleRecord& record) {
  if (record.size() != ended_.size()) return;
  std::vector<std::int64_t> values(ended_.size());
  record.values(values.data());
  result::Window window;
  window.time = Nanoseconds(record.time_ns) - started_;
  window.cpu = thread.processor = record.processor;
  window.trigger = 0;
  window.address = record.address;
  emit(number, thread, window, values);
}

void TracedWindows::take(pid_t number, Thread& thread) {
  if (!thread.ring) return;
  thread.ring->drain([&](const linux::RingRecord& raw) {
    using Kind = linux::SampleRecord::Kind;
    const linux::SampleRecord record = linux::sample_record(raw);
    if (record.what == Kind::sample) sample(number, thread, record);
    if (record.what == Kind::lost || record.what == Kind::throttled) thread.gap = true;
  });
}

void TracedWindows::take_all() {
  for (auto& [number, thread] : living_) take(number, thread);
}

// Ends a thread whose counters have stopped, because it has ended or counting has.
void TracedWindows::end(pid_t number) {
  const auto found = living_.find(number);
  if (found == living_.end()) return;
  Thread& thread = found->second;
  take(number, thread);
  std::vector<linux::PerfValue> read(thread.group.size());
  if (thread.group.front().read_group(read) == 0) {
    std::vector<std::int64_t> values;
    for (const linux::PerfValue& one : read) values.push_back(static_cast<std::int64_t>(one.value));
    for (std::size_t i = 0; i < values.size(); ++i) ended_[i] += values[i];
    result::Window window;
    window.time = linux::now() - started_;
    window.cpu = thread.processor;
    emit(number, thread, window, values);
  } else {
    ++uncounted_;
  }
  ring_bytes_ -= thread.ring_bytes;
  living_.erase(found);
}

bool TracedWindows::takes(const linux::Change& change) {
  using linux::Sight;
  const std::lock_guard lock(mutex_);
  const pid_t number = change.process;
  if (!change.stopped) {
    end(number);
    process_of_.erase(number);
    return number != first_;
  }
  Sight sight = linux::follower::interpret_stop(change, number == first_ || living_.contains(number));
  if (sight.what == Sight::nothing) return true;
  if (sight.what == Sight::forked) {
    // The new thread or process may stop before or after its creator reports it.
    if (process_of_.contains(sight.thread) && !living_.contains(sight.child)) expected_[sight.child] = sight.thread;
    return true;
  }
  const bool expected = expected_.erase(number) != 0;
  const auto is_known = [&](pid_t process) {
    return std::any_of(process_of_.begin(), process_of_.end(), [&](const auto& one) { return one.second == process; });
  };
  const bool is_ours =
      expected || sight.process == first_ || is_known(sight.process) || is_known(sight.parent) || sight.is_orphan;
  if (!is_ours) {
    linux::follower::let_go(number);  // of an earlier run
    return true;
  }
  if (sight.what == Sight::began) follow(sight);
  if (sight.what == Sight::executed) execute(sight);
  linux::follower::go_on(number);
  return true;
}

void TracedWindows::finish() {
  reader_->finish();
  const std::lock_guard lock(mutex_);
  for (auto& [number, thread] : living_) thread.group.front().disable();
  while (!living_.empty()) end(living_.begin()->first);
}

std::vector<Count> TracedWindows::counts() const {
  std::vector<Count> counts;
  for (std::size_t i = 0; i < order_.events.size(); ++i) {
    const Count& like = events_.head.events[i].count;
    const auto& index = events_.places[i];
    counts.push_back(!index            ? like
                     : uncounted_ == 0 ? counted(ended_[*index], like.source)
                                       : partial(ended_[*index], like.source,
                                                 fmt::format("{} threads could not be counted", uncounted_)));
  }
  return counts;
}

std::vector<std::string> TracedWindows::notices() const {
  std::vector<std::string> notes{
      "on this kernel (before 6.12) threads cannot inherit counters that write the counts of their group: the program "
      "is traced (ptrace), and stops when threads start and end"};
  if (lost_ > 0)
    notes.push_back(
        fmt::format("{} windows have no row of their own: records were lost, and the next row of each is "
                    "longer (column `lost`)",
                    lost_));
  if (without_ring_ > 0)
    notes.push_back(fmt::format("{} threads have one row each: there was no memory for their records", without_ring_));
  if (uncounted_ > 0) notes.push_back(fmt::format("{} threads could not be counted, and have no rows", uncounted_));
  return notes;
}

}  // namespace tally::backend::perf
