// Recognizes steps of a curve that are not the end of a cache level.
#pragma once

#include "programs/memory/analysis/levels.hpp"

namespace tally::memory {

/// ns per load on both sides of a step, for one order of the lines.
struct StepWalk {
  double below_ns = 0;
  double above_ns = 0;
};

/// Whether the middle one of three plateaus is caused by prefetchers. If each miss also fetches a second line, one of
/// the two hits in rings somewhat larger than the cache, and the curve stays half-way up for half an octave or more.
bool is_of_prefetchers(const Curve& curve, const Plateau& below, const Plateau& middle, const Plateau& above,
                       double page_bytes);

/// Whether the latency rises by a tenth, which is more than repeated walks differ.
bool rises(const StepWalk& walk);

/// Whether a step from a plateau of `plateau_ns` (random order) vanishes when each page is finished before the next one
/// begins; steps of translation buffers do. False if both sides are slow: then something else used the level meanwhile.
bool goes_away_by_page(const StepWalk& by_page, double plateau_ns);

}  // namespace tally::memory
