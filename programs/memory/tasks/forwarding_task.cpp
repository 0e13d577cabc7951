// Times a store followed by a load, to show which distances are forwarded.
#include <fmt/format.h>

#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"

namespace tally::memory {

Result<void> run_stlf(Runner& runner, result::Memory& result) {
  constexpr std::uint64_t word = 8;
  constexpr std::uint64_t last = 64;  // from here on a word crosses into the next line
  constexpr std::uint64_t grid = 4;
  constexpr std::uint64_t steps = 4096;
  auto area = runner.fresh(4096);
  if (!area) return fail(area.error());
  std::vector<double> references{runner.reference_ns()};
  result::MemoryMap map{"A store of 8 bytes, then a load of 8", "store at", "load at", false, false, "ns", {}};
  std::vector<double> same;
  std::vector<double> overlapping;
  for (std::uint64_t store_at = 0; store_at <= last; store_at += grid) {
    runner.plan().progress(static_cast<double>(store_at) / last, "stores and loads");
    for (std::uint64_t load_at = 0; load_at <= last && !runner.must_stop(); load_at += grid) {
      Visit visit;
      runner.collect(
          visit, [&] { return store_and_load(area->data(), store_at, load_at, steps); }, steps, runner.plan().batches);
      result::MemoryPoint row;
      row.task = result.task;
      row.quantity = fmt::format("store at {}, load at {}", store_at, load_at);
      row.mode = "forwarding";
      row.region_bytes = last + word;
      row.block_bytes = word;
      row.stride_bytes = load_at > store_at ? load_at - store_at : store_at - load_at;
      row.count = 1;
      row.pages_asked = name(runner.plan().pages);
      row.load = "scalar";
      row.seed = runner.plan().seed;
      set_timing(row, {{visit.ns, false, visit.rejected, references.front(), runner.core_ghz()}});
      if (row.ns) {
        map.cells.push_back({static_cast<double>(store_at), static_cast<double>(load_at), *row.ns});
        if (row.stride_bytes == 0) same.push_back(*row.ns);
        if (row.stride_bytes > 0 && row.stride_bytes < word) overlapping.push_back(*row.ns);
      }
      result.points.push_back(std::move(row));
    }
  }
  references.push_back(runner.reference_ns());
  result.maps.push_back(std::move(map));
  judge(result, references);
  if (same.empty() || overlapping.empty()) return {};
  result.statistics = {{"same_place_ns", median(same)}, {"overlapping_ns", median(overlapping)}};
  result.findings.push_back(fmt::format(
      "a load of bytes that were just stored takes {:.2f} ns, a load of some of them and other bytes {:.2f} ns",
      median(same), median(overlapping)));
  return {};
}

}  // namespace tally::memory
