#include "tally/counting/backend/engine/count/snapshot.hpp"

#include <algorithm>
#include <cstring>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/sound.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/output/result/interval_reason.hpp"

namespace tally::backend::engine {
namespace {

/// Where the counts of a thread are, read once: the program may overwrite it at any time.
struct CounterLocation {
  std::uint32_t process, area;

  /// A program may have written other numbers: see sound.hpp.
  bool is_valid() const { return process != 0 && process < channel::process_limit && area < channel::area_limit; }
};

std::uint32_t load(const std::uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }

/// A vfork child shares its parent's segments, whose number is in the parent's record.
std::uint32_t segments_of(const channel::Process& process, std::uint32_t vectors, const channel::Records& records) {
  std::uint32_t segments = load(process.segments);
  const std::uint32_t parent = load(process.forked_from);
  if (parent != 0 && parent < channel::process_limit && load(records.process(parent).vectors) == vectors) {
    segments = std::max(segments, load(records.process(parent).segments));
  }
  return std::min(segments, channel::segment_limit);
}

/// Returns how many of `number` items at an offset have been written.
std::uint32_t written_of(int file, std::uint64_t begin, std::uint32_t number, std::size_t bytes_of_each) {
  const std::uint64_t bytes = linux::data_end(file, begin, begin + number * bytes_of_each) - begin;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>((bytes + bytes_of_each - 1) / bytes_of_each, number));
}

channel::Totals in_counters(const CounterLocation& location, const Channel& shared, Effort* effort) {
  const channel::Process& process = shared.records.process(location.process);
  const std::uint32_t of_vectors = load(process.vectors);
  std::uint32_t segments = segments_of(process, of_vectors, shared.records);
  if (segments == 0 || location.area == 0 || of_vectors == 0 || of_vectors >= channel::area_limit) return {};
  const int file = shared.file.get();
  segments = std::min(written_of(file, channel::area_offset(location.area), segments, sizeof(std::uint64_t)),
                      written_of(file, channel::area_offset(of_vectors), segments, sizeof(channel::SegmentVector)));
  const bool has_rows = shared.records.header().settings.mix != 0;
  if (segments == 0) return {};
  if (effort != nullptr &&
      !effort->take_counter_bytes(segments * (sizeof(std::uint64_t) + sizeof(channel::SegmentVector) +
                                              (has_rows ? sizeof(channel::MixRow) : 0))))
    return {};
  std::vector<std::uint64_t> counters(segments);
  std::vector<channel::SegmentVector> vectors(segments);
  std::vector<channel::MixRow> rows(has_rows ? segments : 0);
  const bool read =
      linux::read_at(file, channel::area_offset(location.area), counters.data(), segments * sizeof counters[0]) &&
      linux::read_at(file, channel::area_offset(of_vectors), vectors.data(), segments * sizeof vectors[0]) &&
      (!has_rows || linux::read_at(file, channel::mix_rows_offset(of_vectors), rows.data(), segments * sizeof rows[0]));
  return read ? channel::sum(counters.data(), vectors.data(), has_rows ? rows.data() : nullptr, segments)
              : channel::Totals{};
}

channel::State state_of(const channel::Thread& thread) {
  return static_cast<channel::State>(
      __atomic_load_n(reinterpret_cast<const std::uint32_t*>(&thread.state), __ATOMIC_ACQUIRE));
}

bool are_equal(const channel::Totals& a, const channel::Totals& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// A thread that moves its counts shows that with its state and `base`, and finishes in a moment.
constexpr int tries = 1000;
// A program that does nothing else is read after this time: any of its states is valid.
constexpr Nanoseconds patience = std::chrono::milliseconds(20);

// Adds what the kernel counted between two reads. Without `to`, the sum begins at 0.
void add_between(std::vector<KernelCount>& to, const std::vector<KernelCount>& from,
                 const std::vector<KernelCount>& until) {
  const bool is_new = to.empty();
  if (is_new) to = until;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (!to[i].value || !from[i].value || !until[i].value) continue;
    linux::PerfValue& sum = *to[i].value;
    if (is_new) sum = {};
    sum.value += until[i].value->value - from[i].value->value;
    sum.enabled += until[i].value->enabled - from[i].value->enabled;
    sum.running += until[i].value->running - from[i].value->running;
  }
}

}  // namespace

void Snapshot::add_between(const Snapshot& from, const Snapshot& until) {
  threads.resize(std::max(threads.size(), until.threads.size()));
  for (std::uint32_t thread = 0; thread < until.threads.size(); ++thread) {
    threads[thread].add(until.of(thread));
    threads[thread].add(from.of(thread), -1);
  }
}

channel::Totals Snapshot::whole() const {
  channel::Totals totals;
  for (const channel::Totals& thread : threads) totals.add(thread);
  return totals;
}

channel::Totals totals_of(std::uint32_t number, const Channel& shared, Effort* effort) {
  const channel::Thread& thread = shared.records.thread(number);
  channel::Totals totals;
  const Nanoseconds last = linux::now() + patience;
  for (int i = 0; i < tries && (i < 2 || linux::now() < last); ++i) {
    const channel::State before = state_of(thread);
    const CounterLocation location{load(thread.process), load(thread.area)};
    if (before == channel::State::free || !location.is_valid()) return {};
    const channel::Totals base = thread.base;
    if (before == channel::State::ended) {
      totals = thread.final;
    } else {
      totals = in_counters(location, shared, effort);
      totals.add(base);
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (state_of(thread) == before && are_equal(thread.base, base)) break;
  }
  return totals;
}

Snapshot take_snapshot(const Channel& shared) {
  const std::uint32_t threads = claimed_threads(shared);
  Snapshot snapshot;
  snapshot.threads.resize(threads + 1);
  Effort effort(claimed_processes(shared), threads);
  for (std::uint32_t i = 1; i <= threads; ++i) snapshot.threads[i] = totals_of(i, shared, &effort);
  return snapshot;
}

// What is counted without interest is added to the counts at the start.
void LiveMeter::enable() {
  const std::vector<KernelCount> kernel_now = kernel_.read();
  Snapshot now = take_snapshot(shared_);
  if (!off_) {
    from_ = std::move(now);
    kernel_from_ = kernel_now;
    return;
  }
  if (!from_) from_.emplace();
  from_->add_between(*off_, now);
  add_between(kernel_from_, kernel_off_, kernel_now);
  off_.reset();
}

void LiveMeter::disable() {
  off_ = take_snapshot(shared_);
  kernel_off_ = kernel_.read();
}

std::vector<Count> LiveMeter::read() {
  last_ = off_ ? *off_ : take_snapshot(shared_);
  kernel_last_ = off_ ? kernel_off_ : kernel_.read();
  CollectedTotals tally{last_->whole(), ""};
  if (from_) tally.totals.add(from_->whole(), -1);
  RunStatistics statistics;
  statistics.kernel = kernel();
  std::vector<Count> counts;
  for (const event::Event& event : order_.events) {
    const event::Kind kind = event::definition(event.id).kind;
    // Models report at the end only.
    counts.push_back(kind == event::Kind::hardware ? count_of(event, tally)
                     : kernel_event(event.id)      ? software_while_running(event, statistics)
                                                   : absent(result::only_at_end));
  }
  return counts;
}

Count LiveMeter::duration(Nanoseconds length) const {
  event::Event event;
  event.id = event::Id::duration_time;
  RunStatistics statistics;
  statistics.duration = length;
  return software_while_running(event, statistics);
}

CountedTime LiveMeter::counted_time() const { return {from_, last_, timed_out_ || off_.has_value()}; }

std::vector<KernelCount> LiveMeter::kernel() const {
  std::vector<KernelCount> counts = kernel_last_;
  for (std::size_t i = 0; i < counts.size() && i < kernel_from_.size(); ++i) {
    if (!counts[i].value || !kernel_from_[i].value) continue;
    const linux::PerfValue& from = *kernel_from_[i].value;
    linux::PerfValue& value = *counts[i].value;
    value = {value.value - from.value, value.enabled - from.enabled, value.running - from.running};
  }
  return counts;
}

}  // namespace tally::backend::engine
