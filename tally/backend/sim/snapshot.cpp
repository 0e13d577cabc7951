#include "tally/backend/sim/snapshot.hpp"

#include <algorithm>
#include <cstring>

#include "tally/backend/sim/harvest.hpp"

namespace tally::backend::sim {
namespace {

/// A vfork child shares its parent's segments: the parent's record knows how many there are.
std::uint32_t segments_of(const channel::Process& process, const channel::Records& records) {
  std::uint32_t segments = process.segments;
  if (process.forked_from != 0 && records.process(process.forked_from).vectors == process.vectors) {
    segments = std::max(segments, records.process(process.forked_from).segments);
  }
  return std::min(segments, channel::segment_limit);
}

channel::Totals in_counters(const channel::Thread& thread, const Channel& shared) {
  const channel::Process& process = shared.records.process(thread.process);
  const std::uint32_t segments = segments_of(process, shared.records);
  std::vector<std::uint64_t> counters(segments);
  std::vector<channel::SegmentVector> vectors(segments);
  if (segments == 0 || thread.area == 0 || process.vectors == 0) return {};
  const bool read = linux::read_at(shared.file.get(), channel::area_offset(thread.area), counters.data(),
                                   segments * sizeof counters[0]) &&
                    linux::read_at(shared.file.get(), channel::area_offset(process.vectors), vectors.data(),
                                   segments * sizeof vectors[0]);
  return read ? channel::sum(counters.data(), vectors.data(), segments) : channel::Totals{};
}

channel::State state_of(const channel::Thread& thread) {
  return static_cast<channel::State>(
      __atomic_load_n(reinterpret_cast<const std::uint32_t*>(&thread.state), __ATOMIC_ACQUIRE));
}

bool same(const channel::Totals& a, const channel::Totals& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// A thread that moves its counts from one place to another says so by its state and by `base`, and is done in a moment.
constexpr int tries = 1000;

}  // namespace

channel::Totals Snapshot::whole() const {
  channel::Totals totals;
  for (const channel::Totals& thread : threads) totals.add(thread);
  return totals;
}

channel::Totals totals_of(std::uint32_t number, const Channel& shared) {
  const channel::Thread& thread = shared.records.thread(number);
  channel::Totals totals;
  for (int i = 0; i < tries; ++i) {
    const channel::State before = state_of(thread);
    if (before == channel::State::free || thread.process == 0) return {};
    const channel::Totals base = thread.base;
    if (before == channel::State::ended) {
      totals = thread.final;
    } else {
      totals = in_counters(thread, shared);
      totals.add(base);
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (state_of(thread) == before && same(thread.base, base)) break;
  }
  return totals;
}

Snapshot look(const Channel& shared) {
  const std::uint32_t next = __atomic_load_n(&shared.records.header().next_thread, __ATOMIC_ACQUIRE);
  const std::uint32_t threads = std::min(next, channel::thread_limit - 1);
  Snapshot snapshot;
  snapshot.threads.resize(threads + 1);
  for (std::uint32_t i = 1; i <= threads; ++i) snapshot.threads[i] = totals_of(i, shared);
  return snapshot;
}

void LiveMeter::enable() {
  from_ = look(shared_);
  kernel_from_ = kernel_.read();
}

std::vector<Count> LiveMeter::read() {
  last_ = look(shared_);
  kernel_last_ = kernel_.read();
  Tally tally{last_->whole(), ""};
  if (from_) tally.totals.add(from_->whole(), -1);
  Figures figures;
  figures.kernel = kernel();
  std::vector<Count> counts;
  for (const event::Event& event : request_.events) {
    const event::Kind kind = event::definition(event.id).kind;
    // What models compute they tell at the end.
    counts.push_back(kind == event::Kind::hardware ? count_of(event, tally)
                     : kernel_event(event.id)      ? software_while_running(event, figures)
                                                   : absent("known at the end only"));
  }
  return counts;
}

Window LiveMeter::window() const { return {from_, last_, timed_out_}; }

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

}  // namespace tally::backend::sim
