// Measurements of geometry, and those that a claim about levels has to agree with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tally/tools/memory/analysis/geometry.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// One rung of the ladder: single touches of cold lines at this distance.
struct Rung {
  std::uint64_t stride_bytes = 0;
  double ns = 0;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  std::string pages_got;
};

/// Lines, one touch each, cold, in random order: 16 384 of them, 64 to 4096 bytes from one to the next. A rise from 64
/// to 4096 is what prefetchers do. Errors: as Runner::visit_once().
Result<std::vector<Rung>> ladder(Runner& runner, linux::PageKind pages, int mappings);

/// How many lines at each stride still hit a level that takes `hit_ns` (the level below it: `miss_ns`), by bisection,
/// the most of `mappings` mappings, and of up to three times as many more where the strides contradict each other.
/// Powers of two from 64 to `widest`, then their witnesses. Errors: no memory.
Result<std::vector<HitCount>> hit_counts(Runner& runner, double hit_ns, double miss_ns, std::uint64_t widest,
                                         int mappings);

/// One line in each page, against as many lines side by side. Errors: no memory.
Result<TlbHits> tlb_hits(Runner& runner, linux::PageKind pages, int mappings);

/// Two words at each distance from 8 to 256, the higher one first, in a ring of `region_bytes`. Errors: no memory.
Result<std::vector<PairTime>> pair_times(Runner& runner, std::uint64_t region_bytes);

}  // namespace tally::memory
