// One thread on one processor, its clock, and the timing of batches on a machine that may be busy.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/core/stats/random.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/process/disturbance.hpp"
#include "tally/tools/memory/analysis/permutation.hpp"
#include "tally/tools/memory/batch_counters.hpp"
#include "tally/tools/memory/kernels/flavours.hpp"

namespace tally::memory {

/// How everything is measured.
struct Plan {
  linux::PageKind pages = linux::PageKind::transparent;
  std::optional<int> node{};            ///< memory of this node alone
  OrderKind order = OrderKind::random;  ///< of the tasks that walk rings of a size
  std::string file;                     ///< memory is this file or device; empty: anonymous
  std::optional<int> processor;         ///< none: the quietest one
  std::uint64_t seed = 1;
  int mappings = 0;  ///< fresh mappings for each point; 0: as many as the task usually has
  int batches = 10;  ///< accepted batches of each mapping
  std::chrono::seconds budget{55};
  std::uint64_t from_bytes = 4096;
  std::uint64_t to_bytes = 0;            ///< 0: chosen by the machine
  std::vector<std::uint64_t> regions{};  ///< of the tasks that sweep them; empty: the task's own
  std::vector<std::uint64_t> blocks{};
  std::uint64_t stride_bytes = 0;  ///< from block to block; 0: the block
  const Store* store = &usual_store();
  const Load* load = &usual_load();
  const Fence* fence = &usual_fence();
  /// Tells whether to stop, at least every few milliseconds.
  std::function<bool()> stop = [] { return false; };
  /// Told how far a task is: 0 to 1, and what is being done.
  std::function<void(double, const std::string&)> progress = [](double, const std::string&) {};
};

/// One accepted timing.
struct Batch {
  double ns = 0;               ///< per step
  std::vector<double> counts;  ///< per step, of each open counter; empty where they were not read as a whole
};

/// What one mapping of one point gave.
struct Visit {
  std::vector<double> ns;  ///< per step, of the accepted batches
  std::vector<std::vector<double>>
      counts{};             ///< of each of them, as in Batch; empty where other work was between the stamps
  bool whole_laps = false;  ///< every batch is a whole number of laps, so that their minimum means something
  /// Between the last time that something else had the processor and each batch lies a whole lap: nothing that it left
  /// in the caches of this core is in the timing.
  bool settled = false;
  std::int64_t rejected = 0;
  double reference_ns = 0;  ///< the L1 reference ring's step, the slower one of before and after
  double ghz = 0;           ///< core cycles per ns at the time
  /// The reference ring's step in core cycles, likewise: a clock that drifts does not move it, a neighbour in the core
  /// does.
  double reference_cycles = 0;
  std::string pages_got;
  std::uint64_t offset = 0;           ///< where the walk stands
  std::optional<double> from_memory;  ///< the share of single loads that memory served; nothing: not asked, not known
};

/// A chase that is walked lap after lap.
struct Lap {
  std::uint64_t blocks = 0;  ///< one load each
  std::uint64_t stride_bytes = 64;
  OrderKind order = OrderKind::random;
  std::uint64_t group_blocks = 64;         ///< of page_local
  std::uint64_t pool_blocks = 0;           ///< the blocks are any of so many, in random order; 0: all that there are
  std::optional<linux::PageKind> pages{};  ///< another kind than the plan's
  std::optional<int> node{};               ///< another node than the plan's
  double batch_ns = 500'000;
  double longest_lap_ns = 0;       ///< as Walk::longest_lap_ns
  bool count_from_memory = false;  ///< Visit::from_memory is wanted: 4,096 loads more, one at a time

  std::uint64_t span_bytes() const { return std::max(blocks, pool_blocks) * stride_bytes; }
};

/// How long a chain is walked.
struct Walk {
  int batches = 0;  ///< 0: as many as the plan says
  /// A batch is what is thrown away at once: short against a time slice (3 ms and more), long against two stamps.
  double batch_ns = 500'000;
  /// A lap that takes longer than a batch, and no longer than this, is a batch nevertheless.
  double longest_lap_ns = 0;
};

/// The measuring thread. Not to be moved while it measures; one in a process.
class Runner {
 public:
  /// Binds the calling thread to a processor, warms it up and calibrates the clock: some 400 ms. Errors:
  /// cannot_measure.
  static Result<Runner> start(Plan plan);

  const Plan& plan() const { return plan_; }
  int processor() const { return processor_; }
  /// Processors that this process may run on, the measuring thread's first.
  const std::vector<int>& processors() const { return processors_; }
  Random& random() { return random_; }

  /// Ticks of the time-stamp counter, in nanoseconds of CLOCK_MONOTONIC_RAW over the whole run so far.
  double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }

  /// Core cycles per nanosecond now: the fastest of a few dependent chains. Cost: some 30 µs.
  double core_ghz() const;

  /// ns per step of a ring of 8 lines now. Cost: some 50 µs.
  double reference_ns();

  /// From how many ns on a single load was served by memory: 0.6 of the median of cold ones, without what two stamps
  /// take. Nothing where no program can empty caches, there is no memory, or the counter's ticks are too long. Of a
  /// file it writes over what is there. Cost: some ms, once.
  std::optional<double> memory_load_ns();

  /// Fresh memory of the plan's kind and node (or those named), large enough for huge pages to be huge. Errors: as
  /// Area.
  Result<linux::Area> fresh(std::uint64_t bytes, std::optional<linux::PageKind> pages = {},
                            std::optional<int> node = {}) const;

  /// Times the chase in a fresh mapping, lap after lap. Errors: cannot_measure where there is no memory, or the order
  /// is none.
  Result<Visit> visit(const Lap& lap);

  /// The same cold: the caches are emptied, then each block is touched once. Errors: as visit(), and where the
  /// processor lets no program empty its caches.
  Result<Visit> visit_once(const Lap& lap);

  /// Times a chain that was planted, lap after lap, after one that is not timed.
  /// `steps_of_lap` loads come back to the beginning.
  Visit walk(const std::byte* base, std::uint64_t steps_of_lap, const Walk& how);

  /// Of the measuring thread.
  const BatchCounters& counters() const { return counters_; }

  /// One batch: runs `body`, which times something of `steps` steps, and says what a step took; nothing where
  /// something else happened meanwhile.
  std::optional<Batch> batch(const std::function<Timed()>& body, std::uint64_t steps) const;

  /// Batches of `body` until `wanted` were accepted, at most three times as many, or until it is time to stop. Those
  /// in which the hypervisor took the processor away are all thrown away. `settle`, where it is given, is done before
  /// the first batch after everything else that happened.
  void collect(Visit& visit, const std::function<Timed()>& body, std::uint64_t steps, int wanted,
               const std::function<void()>& settle = {}) const;

  /// Ticks of 10 ms that the hypervisor has kept from this processor.
  std::int64_t stolen_ticks() const { return watch_.stolen_ticks(processor_); }

  /// The share of the time since the start in which this thread waited for its processor, while others had it.
  double waited_share() const;

  double seconds_left() const;
  bool must_stop() const { return plan_.stop() || seconds_left() <= 0; }

  void calibrate();

 private:
  explicit Runner(Plan plan) : plan_(std::move(plan)), random_(plan_.seed) {}
  void warm_up();
  Result<Visit> visit_words(const Lap& lap, const linux::Area& area);
  Result<Visit> visit_fresh_laps(const Lap& lap, const linux::Area& area);
  Result<void> make_reference();
  std::optional<double> share_from_memory(const std::byte* base, std::uint64_t offset, std::uint64_t blocks);
  void put_aside(linux::Area area, linux::PageKind kind);

  Plan plan_;
  int processor_ = 0;
  std::vector<int> processors_;
  Random random_;
  linux::Watch watch_;
  BatchCounters counters_;
  std::int64_t first_waited_ns_ = watch_.now().waited_ns;
  std::optional<linux::Area> reference_;
  /// Those walked last, still mapped: the frames that are given back first are the first to come again, and a mapping
  /// in the same frames has the same page colours.
  std::deque<linux::Area> aside_;
  std::size_t most_aside_bytes_ = 0;
  double stamps_ns_ = 0;
  std::optional<std::optional<double>> memory_load_ns_;  ///< once it was looked for
  double ns_per_tick_ = 1;
  std::uint64_t first_ticks_ = 0;
  Nanoseconds first_time_{0};
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

/// Writes at each offset the one that follows it, at the last the first.
void plant_chain(std::byte* base, std::span<const std::uint64_t> offsets);

/// Writes into each block the offset of the one that follows it.
void plant(std::byte* base, const Order& order, std::uint64_t stride_bytes);

/// Whether each block still holds what was planted.
bool is_planted(const std::byte* base, const Order& order, std::uint64_t stride_bytes);

}  // namespace tally::memory
