// Caches that the system reports, of which a calm curve shows no end.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/memory/analysis/findings.hpp"

namespace tally::memory {

/// What would make a curve go on after its end: an option, or whatever cut it short.
std::string what_takes_it_further(const Witnesses& witnesses);

/// Why the curve does not show where this cache ends, and what to do about it.
std::string why_unseen(const Curve& curve, const std::vector<LevelSpan>& spans, const KnownCache& cache,
                       const Witnesses& witnesses);

/// The cache among these (places `from` up to `until`, of one core alone) whose latency a plateau is: the first that
/// holds the plateau's sizes. Null where none does.
const KnownCache* holder_of(const Curve& curve, const Plateau& plateau, const std::vector<KnownCache>& reported,
                            std::size_t from, std::size_t until);

}  // namespace tally::memory
