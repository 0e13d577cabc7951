// Reads what the threads under the engine have counted so far, while they run.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/conductor.hpp"
#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/software.hpp"

namespace tally::backend::engine {

/// The totals by index of the thread's record. Each is exact for a whole number of blocks: a block counts when it
/// starts.
struct Snapshot {
  std::vector<channel::Totals> threads;

  /// Returns the totals of one thread; 0 if it had not started.
  channel::Totals of(std::uint32_t thread) const {
    return thread < threads.size() ? threads[thread] : channel::Totals{};
  }

  /// Adds what the threads counted between two snapshots.
  void add_between(const Snapshot& from, const Snapshot& until);

  /// Returns the sum of all threads.
  channel::Totals whole() const;
};

/// Returns what a thread has counted so far. Reads a record again if it changed meanwhile. Takes from `effort` what it
/// reads; if that is spent, leaves the counters out.
channel::Totals totals_of(std::uint32_t thread, const Channel& shared, Effort* effort = nullptr);

/// Reads every thread. Cost: 24 bytes for each code segment of each running thread.
Snapshot take_snapshot(const Channel& shared);

/// The part of a run that is counted: after `from` and before `until`.
struct CountedTime {
  std::optional<Snapshot> from, until;
  bool timed_out = false;  ///< `until` is before the end of the run
};

/// Reads the channel and the kernel's counters while the program runs.
class LiveMeter final : public Meter {
 public:
  /// All of them must outlive it.
  LiveMeter(const Order& order, const Channel& shared, const KernelCounters& kernel)
      : order_(order), shared_(shared), kernel_(kernel) {}

  void enable() override;
  void disable() override;
  std::vector<Count> read() override;
  Count duration(Nanoseconds length) const override;

  /// Ends counting with the last read().
  void times_out() { timed_out_ = true; }

  /// Returns what was counted from enable() to the last read(), without the time between disable() and enable().
  CountedTime counted_time() const;

  /// Returns what the kernel's counters counted in that time.
  std::vector<KernelCount> kernel() const;

 private:
  const Order& order_;
  const Channel& shared_;
  const KernelCounters& kernel_;
  std::optional<Snapshot> from_;
  std::vector<KernelCount> kernel_from_;
  std::optional<Snapshot> off_;  // the counts at disable()
  std::vector<KernelCount> kernel_off_;
  std::optional<Snapshot> last_;
  std::vector<KernelCount> kernel_last_;
  bool timed_out_ = false;
};

}  // namespace tally::backend::engine
