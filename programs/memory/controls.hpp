// Measurements of cache geometry, and control measurements that the claims about levels must agree with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "programs/memory/analysis/geometry.hpp"
#include "programs/memory/runner.hpp"

namespace tally::memory {

/// One stride of the ladder: cold lines at this distance, each touched once.
struct Rung {
  std::uint64_t stride_bytes = 0;
  double ns = 0;
  std::int64_t batches = 0;
  std::int64_t rejected = 0;
  std::string pages_got;
};

/// Touches 16,384 cold lines once each, in random order, at strides from 64 to 4096 bytes. A latency that rises from 64
/// to 4096 shows prefetchers. Errors: those of Runner::visit_once().
Result<std::vector<Rung>> ladder(Runner& runner, linux::PageKind pages, int mappings);

/// Finds by bisection how many lines at each stride still hit a level with latency `hit_ns` (`miss_ns` in the level
/// below): the maximum over `mappings` mappings, or up to four times as many if the strides contradict each other.
/// Measures the powers of two from 64 to `widest`, then their witness strides. Errors: no memory.
Result<std::vector<HitCount>> hit_counts(Runner& runner, double hit_ns, double miss_ns, std::uint64_t widest,
                                         int mappings);

/// Compares loads of one line per page with loads of as many adjacent lines. Errors: no memory.
Result<TlbHits> tlb_hits(Runner& runner, linux::PageKind pages, int mappings);

/// Times pairs of words at each distance from 8 to 256 bytes, the higher word first, in a ring of `region_bytes`.
/// Errors: no memory.
Result<std::vector<PairTime>> pair_times(Runner& runner, std::uint64_t region_bytes);

}  // namespace tally::memory
