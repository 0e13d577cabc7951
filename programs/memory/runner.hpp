// The measuring thread: binds to one processor, calibrates its clock, and times batches on a machine that may be busy.
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

#include "programs/linux/memory_area.hpp"
#include "programs/memory/analysis/permutation.hpp"
#include "programs/memory/batch_counters.hpp"
#include "programs/memory/kernels/flavours.hpp"
#include "programs/memory/statistics/seeded_random.hpp"
#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/linux/process/disturbance.hpp"

namespace tally::memory {

/// Bytes of a line of the caches, on every processor that the kernels are written for.
inline constexpr std::uint64_t line_bytes = 64;

inline constexpr std::uint64_t mebibyte = 1 << 20;

/// Options of all measurements.
struct Plan {
  linux::PageKind pages = linux::PageKind::transparent;
  std::optional<int> node{};            ///< allocate on this node only
  OrderKind order = OrderKind::random;  ///< of the tasks that walk rings of a given size
  std::string file;                     ///< map this file or device; empty: anonymous memory
  std::optional<int> processor;         ///< empty: the quietest one
  std::uint64_t seed = 1;
  int mappings = 0;  ///< fresh mappings of each point; 0: the task's default
  int batches = 10;  ///< accepted batches of each mapping
  std::chrono::seconds budget{55};
  std::uint64_t from_bytes = 4096;
  std::uint64_t to_bytes = 0;            ///< 0: depends on the machine
  std::vector<std::uint64_t> regions{};  ///< of the tasks that sweep them; empty: the task's default
  std::vector<std::uint64_t> blocks{};
  std::uint64_t stride_bytes = 0;       ///< from block to block; 0: the block
  std::uint64_t working_set_bytes = 0;  ///< of all regions of a pass; 0: as many regions as take about 30 ms
  const Store* store = &usual_store();
  const Load* load = &usual_load();
  const Fence* fence = &usual_fence();
  /// Whether to stop; called at least every few milliseconds.
  std::function<bool()> stop = [] { return false; };
  /// Called with the progress of a task (0 to 1) and what it is doing.
  std::function<void(double, const std::string&)> progress = [](double, const std::string&) {};
};

/// One accepted timing.
struct Batch {
  double ns = 0;               ///< per step
  std::vector<double> counts;  ///< per step, of each open counter; empty if they could not be read completely
};

/// The timings of one mapping of one point.
struct Visit {
  std::vector<double> ns;  ///< per step, of the accepted batches
  std::vector<std::vector<double>>
      counts{};             ///< of each batch, as in Batch; empty if other work ran between the stamps
  bool whole_laps = false;  ///< every batch is a whole number of laps, so their minimum is meaningful
  /// A whole lap ran between the last time that another thread had the processor and each batch, so nothing that the
  /// other thread left in the caches of this core affects the timing.
  bool settled = false;
  std::int64_t rejected = 0;
  double reference_ns = 0;  ///< per step of the L1 reference ring: the slower of before and after
  double ghz = 0;           ///< core cycles per ns during the visit
  /// The reference step in core cycles, also the slower one. A drifting clock does not change it; another thread on the
  /// core does.
  double reference_cycles = 0;
  std::string pages_got;
  std::uint64_t offset = 0;           ///< where the walk continues
  std::optional<double> from_memory;  ///< share of single loads that memory served; empty: not requested or unknown
};

/// A chase that is walked lap after lap.
struct Lap {
  std::uint64_t blocks = 0;  ///< one load each
  std::uint64_t stride_bytes = 64;
  OrderKind order = OrderKind::random;
  std::uint64_t group_blocks = 64;         ///< of page_local
  std::uint64_t pool_blocks = 0;           ///< the blocks are chosen at random from this many; 0: all blocks are used
  std::optional<linux::PageKind> pages{};  ///< overrides the plan's
  std::optional<int> node{};               ///< overrides the plan's
  double batch_ns = 500'000;
  double longest_lap_ns = 0;       ///< as Walk::longest_lap_ns
  bool count_from_memory = false;  ///< also measure Visit::from_memory, with 4,096 single loads

  std::uint64_t span_bytes() const { return std::max(blocks, pool_blocks) * stride_bytes; }
};

/// How long a chain is walked.
struct Walk {
  int batches = 0;  ///< 0: the plan's
  /// The unit that is rejected as a whole: short compared to a time slice (3 ms and more), long compared to two stamps.
  double batch_ns = 500'000;
  /// A lap longer than batch_ns, but no longer than this, is still one batch.
  double longest_lap_ns = 0;
};

/// The measuring thread. Do not move it while it measures. One per process.
class Runner {
 public:
  /// Binds the calling thread to a processor, warms it up and calibrates the clock, in some 400 ms. Errors:
  /// cannot_measure.
  static Result<Runner> start(Plan plan);

  const Plan& plan() const { return plan_; }
  int processor() const { return processor_; }
  /// Processors that this process may run on, the measuring thread's first.
  const std::vector<int>& processors() const { return processors_; }
  Random& random() { return random_; }

  /// Converts ticks of the time-stamp counter to nanoseconds of CLOCK_MONOTONIC_RAW, calibrated over the whole run.
  double ns(std::uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }

  /// Measures core cycles per nanosecond: the fastest of a few dependent chains. Takes some 30 µs.
  double core_ghz() const;

  /// Measures ns per step of a ring of 8 lines. Takes some 50 µs.
  double reference_ns();

  /// The ns from which a single load counts as served by memory: 0.6 of the median of cold loads, without the time of
  /// two stamps. Empty if programs cannot empty the caches, there is no memory, or the counter's ticks are too long.
  /// Overwrites the contents of a mapped file. Takes some ms, once.
  std::optional<double> memory_load_ns();

  /// Maps fresh memory of the plan's kind and node (or those given), large enough for huge pages. Errors: those of
  /// Area.
  Result<linux::Area> fresh(std::uint64_t bytes, std::optional<linux::PageKind> pages = {},
                            std::optional<int> node = {}) const;

  /// Times the chase in a fresh mapping, lap after lap. Errors: cannot_measure without memory, or if the order is not
  /// one cycle.
  Result<Visit> visit(const Lap& lap);

  /// Empties the caches, then times one touch of each block. Errors: those of visit(), and cannot_measure if programs
  /// cannot empty the caches of this processor.
  Result<Visit> visit_once(const Lap& lap);

  /// Times laps over a planted chain, after one lap that is not timed. A lap is `steps_of_lap` loads.
  Visit walk(const std::byte* base, std::uint64_t steps_of_lap, const Walk& how);

  /// Counters of the measuring thread.
  const BatchCounters& counters() const { return counters_; }

  /// Runs `body`, which times something of `steps` steps, and returns the time per step; empty if something else ran
  /// meanwhile.
  std::optional<Batch> batch(const std::function<Timed()>& body, std::uint64_t steps) const;

  /// Runs batches of `body` until `wanted` are accepted, at most three times as many, or until plan().stop(). Rejects
  /// all batches during which the hypervisor took the processor away. After a disturbance it runs `settle`, if given,
  /// before the next batch.
  void collect(Visit& visit, const std::function<Timed()>& body, std::uint64_t steps, int wanted,
               const std::function<void()>& settle = {}) const;

  /// Ticks of 10 ms that the hypervisor took from this processor.
  std::int64_t stolen_ticks() const { return watch_.stolen_ticks(processor_); }

  /// The share of the time since start() in which this thread waited for its processor.
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
  /// The mappings that were walked last, still mapped. The kernel hands out frames that were freed last first, and a
  /// mapping in the same frames has the same page colours.
  std::deque<linux::Area> aside_;
  std::size_t most_aside_bytes_ = 0;
  double stamps_ns_ = 0;
  std::optional<std::optional<double>> memory_load_ns_;  ///< empty until measured
  double ns_per_tick_ = 1;
  std::uint64_t first_ticks_ = 0;
  Nanoseconds first_time_{0};
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

/// Writes the offset of its successor at each offset; the last points to the first.
void plant_chain(std::byte* base, std::span<const std::uint64_t> offsets);

/// Writes the offset of its successor into each block.
void plant(std::byte* base, const Order& order, std::uint64_t stride_bytes);

/// Whether each block still holds the offset that was planted.
bool is_planted(const std::byte* base, const Order& order, std::uint64_t stride_bytes);

}  // namespace tally::memory
