// Explains why a calm curve does not show the end of a reported cache.
#pragma once

#include <string>
#include <vector>

#include "programs/memory/analysis/findings.hpp"

namespace tally::memory {

/// How to extend the curve: an option with a size at which only memory is left, or what cut it short.
std::string how_to_extend_curve(const Curve& curve, const Witnesses& witnesses);

/// Why the curve does not show where this cache ends, and what to do about it.
std::string why_unseen(const Curve& curve, const std::vector<LevelSpan>& spans, const KnownCache& cache,
                       const Witnesses& witnesses);

/// The reported cache (indices `from` up to `until`) that a plateau's latency belongs to: the first one that holds the
/// plateau's middle size. A shared one only if the plateau is faster than memory, or the last one before a final rise.
/// Null if none does.
const KnownCache* holder_of(const Curve& curve, const Plateau& plateau, const Witnesses& witnesses, std::size_t from,
                            std::size_t until);

}  // namespace tally::memory
