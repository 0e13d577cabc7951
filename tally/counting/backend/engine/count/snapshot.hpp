// What the threads under the engine have counted at one moment, while they run.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/conductor.hpp"
#include "tally/counting/backend/engine/effort.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/software.hpp"

namespace tally::backend::engine {

/// Counts by the number of the thread's record. Each is exact for a whole number of blocks: a block counts as it
/// begins.
struct Snapshot {
  std::vector<channel::Totals> threads;

  /// Of one thread; nothing counted where it had not begun.
  channel::Totals of(std::uint32_t thread) const {
    return thread < threads.size() ? threads[thread] : channel::Totals{};
  }

  /// Of all.
  channel::Totals whole() const;
};

/// What a thread has counted until now. One that changes its record meanwhile is read again. Of `effort` it takes what
/// it reads; where that is spent the counters are left out.
channel::Totals totals_of(std::uint32_t thread, const Channel& shared, Effort* effort = nullptr);

/// Of every thread that there was. Cost: 24 bytes read for each segment of code of each thread that runs.
Snapshot look(const Channel& shared);

/// The part of a run that is counted: what came before `from` is none of it, nor what came after `until`.
struct Window {
  std::optional<Snapshot> from, until;
  bool timed_out = false;  ///< `until` lies before the end of the run
};

/// Reads the channel, and the kernel's counters beside it, while the program runs.
class LiveMeter final : public Meter {
 public:
  /// All of them must live as long.
  LiveMeter(const Job& job, const Channel& shared, const KernelCounters& kernel)
      : job_(job), shared_(shared), kernel_(kernel) {}

  void enable() override;
  std::vector<Count> read() override;
  Count duration(Nanoseconds length) const override;

  /// What is counted ends with what was read last.
  void times_out() { timed_out_ = true; }

  /// What was counted, from enable() to the last read().
  Window window() const;

  /// What the kernel's counters counted in that time.
  std::vector<KernelCount> kernel() const;

 private:
  const Job& job_;
  const Channel& shared_;
  const KernelCounters& kernel_;
  std::optional<Snapshot> from_;
  std::vector<KernelCount> kernel_from_;
  std::optional<Snapshot> last_;
  std::vector<KernelCount> kernel_last_;
  bool timed_out_ = false;
};

}  // namespace tally::backend::engine
