// The tasks of `tally memory`: listed in tasks.cpp, one source file for each group.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "programs/memory/runner.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Options that only some tasks accept.
enum class Takes : unsigned {
  ends = 1,
  regions = 2,
  blocks = 4,
  stride = 8,
  order = 16,
  store = 32,
  load = 64,
  fence = 128,
  working_set = 256
};
constexpr unsigned operator|(Takes a, Takes b) { return static_cast<unsigned>(a) | static_cast<unsigned>(b); }
constexpr unsigned operator|(unsigned a, Takes b) { return a | static_cast<unsigned>(b); }

/// One task.
struct Task {
  std::string_view name;
  std::string_view summary;
  /// Measures and adds the findings to the result. On an error, on Ctrl-C or when the time is over, the result keeps
  /// what was measured until then.
  Result<void> (*run)(Runner& runner, result::Memory& result);
  unsigned takes = 0;  ///< accepted options (Takes)
  int mappings = 5;    ///< default per point; 1: fixed
  bool maps = true;    ///< accepts --pages, --node and --file

  bool does_take(Takes what) const { return (takes & static_cast<unsigned>(what)) != 0; }
};

/// All tasks, the default first.
std::span<const Task> tasks();

/// Runs a task: starts the runner, and adds settings and verdict to the result. Errors: bad_usage for an unknown task;
/// cannot_measure.
Result<result::Memory> run_task(std::string_view name, Plan plan);

/// `levels`: the report.
Result<void> run_levels(Runner& runner, result::Memory& result);

/// `curve`: latency against size only.
Result<void> run_curve(Runner& runner, result::Memory& result);

/// Passes over regions: writes; writes and cold reads; writes, each followed by a read.
Result<void> run_chase_write(Runner& runner, result::Memory& result);
Result<void> run_chase_read(Runner& runner, result::Memory& result);
Result<void> run_chase_raw(Runner& runner, result::Memory& result);

/// Conclusions from these passes: forwarding, fence cost, entry sizes.
Result<void> run_forward(Runner& runner, result::Memory& result);
Result<void> run_fence_fit(Runner& runner, result::Memory& result);
Result<void> run_amplify(Runner& runner, result::Memory& result);

/// Slow writes to a small region.
Result<void> run_overwrite(Runner& runner, result::Memory& result);

/// Single operations; regions after a smaller level was emptied; ways to wear out one address.
Result<void> run_basic(Runner& runner, result::Memory& result);
Result<void> run_flush_first(Runner& runner, result::Memory& result);
Result<void> run_wear(Runner& runner, result::Memory& result);

/// Bandwidth, and latency of single accesses.
Result<void> run_seq_bw(Runner& runner, result::Memory& result);
Result<void> run_stride_bw(Runner& runner, result::Memory& result);
Result<void> run_random_bw(Runner& runner, result::Memory& result);
Result<void> run_stride_lat(Runner& runner, result::Memory& result);

/// Laps over few lines; several rings at once; a store and a load.
Result<void> run_lap(Runner& runner, result::Memory& result);
Result<void> run_mlp(Runner& runner, result::Memory& result);
Result<void> run_stlf(Runner& runner, result::Memory& result);

/// Tasks with threads on other processors.
Result<void> run_loaded(Runner& runner, result::Memory& result);
Result<void> run_c2c(Runner& runner, result::Memory& result);

/// The ceilings of a roofline: bandwidth of each level, and peak rates of floating-point operations.
Result<void> run_ceilings(Runner& runner, result::Memory& result);

/// Each memory node from each node that has processors.
Result<void> run_nodes(Runner& runner, result::Memory& result);

/// Geometry and controls.
Result<void> run_ladder(Runner& runner, result::Memory& result);
Result<void> run_assoc(Runner& runner, result::Memory& result);
Result<void> run_tlb(Runner& runner, result::Memory& result);
Result<void> run_line(Runner& runner, result::Memory& result);
Result<void> run_clock(Runner& runner, result::Memory& result);

/// The last size of a curve: --to, otherwise 4 × the reported last level, at most a quarter of the available memory and
/// 1 GiB. Errors: bad_usage if there is not enough memory.
Result<std::uint64_t> last_size(const Runner& runner);

}  // namespace tally::memory
