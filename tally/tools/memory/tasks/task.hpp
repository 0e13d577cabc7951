// The tasks of `tally memory`: one line each in tasks.cpp, one file each beside it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// The options that only some tasks take.
enum class Takes : unsigned {
  ends = 1,
  regions = 2,
  blocks = 4,
  stride = 8,
  order = 16,
  store = 32,
  load = 64,
  fence = 128
};
constexpr unsigned operator|(Takes a, Takes b) { return static_cast<unsigned>(a) | static_cast<unsigned>(b); }
constexpr unsigned operator|(unsigned a, Takes b) { return a | static_cast<unsigned>(b); }

/// One task.
struct Task {
  std::string_view name;
  std::string_view summary;
  /// Measures, and adds what it found to the result. What was measured before an error, Ctrl-C or the end of the time
  /// stays in it.
  Result<void> (*run)(Runner& runner, result::Memory& result);
  unsigned takes = 0;  ///< of Takes
  int mappings = 5;    ///< of each point, where nobody says how many; 1: it never has more
  bool maps = true;    ///< memory of the kind, node or file that the plan names

  bool does_take(Takes what) const { return (takes & static_cast<unsigned>(what)) != 0; }
};

/// All of them, the default first.
std::span<const Task> tasks();

/// Runs a task: the runner is started, the result gets its settings and its verdict. Errors: bad_usage for an unknown
/// task; cannot_measure.
Result<result::Memory> run_task(std::string_view name, Plan plan);

/// `levels`: the report.
Result<void> run_levels(Runner& runner, result::Memory& result);

/// `curve`: latency against size alone.
Result<void> run_curve(Runner& runner, result::Memory& result);

/// Passes over regions: writes; writes and cold reads; writes with a read after each.
Result<void> run_chase_write(Runner& runner, result::Memory& result);
Result<void> run_chase_read(Runner& runner, result::Memory& result);
Result<void> run_chase_raw(Runner& runner, result::Memory& result);

/// What follows from them: forwarding, the fence, entries.
Result<void> run_forward(Runner& runner, result::Memory& result);
Result<void> run_fence_fit(Runner& runner, result::Memory& result);
Result<void> run_amplify(Runner& runner, result::Memory& result);

/// One block again and again.
Result<void> run_overwrite(Runner& runner, result::Memory& result);

/// Each operation by itself; regions after a smaller level was emptied; ways of wearing one place.
Result<void> run_basic(Runner& runner, result::Memory& result);
Result<void> run_flush_first(Runner& runner, result::Memory& result);
Result<void> run_wear(Runner& runner, result::Memory& result);

/// Bandwidth, and accesses one at a time.
Result<void> run_seq_bw(Runner& runner, result::Memory& result);
Result<void> run_stride_bw(Runner& runner, result::Memory& result);
Result<void> run_random_bw(Runner& runner, result::Memory& result);
Result<void> run_stride_lat(Runner& runner, result::Memory& result);

/// Laps over few lines; several rings at once; a store and a load.
Result<void> run_lap(Runner& runner, result::Memory& result);
Result<void> run_mlp(Runner& runner, result::Memory& result);
Result<void> run_stlf(Runner& runner, result::Memory& result);

/// With threads on other processors.
Result<void> run_loaded(Runner& runner, result::Memory& result);
Result<void> run_c2c(Runner& runner, result::Memory& result);

/// Each memory node from each node that has processors.
Result<void> run_nodes(Runner& runner, result::Memory& result);

/// Geometry and controls.
Result<void> run_ladder(Runner& runner, result::Memory& result);
Result<void> run_assoc(Runner& runner, result::Memory& result);
Result<void> run_tlb(Runner& runner, result::Memory& result);
Result<void> run_line(Runner& runner, result::Memory& result);
Result<void> run_clock(Runner& runner, result::Memory& result);

/// The size at which a curve ends: as far as asked, else 4 × the last level that the system reports, at most a quarter
/// of the memory that is left and 1 GiB. Errors: bad_usage where so much memory is not there.
Result<std::uint64_t> last_size(const Runner& runner);

}  // namespace tally::memory
