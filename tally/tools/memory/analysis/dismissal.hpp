// Which steps of a curve are no levels.
#pragma once

#include "tally/tools/memory/analysis/levels.hpp"

namespace tally::memory {

/// ns per load on both sides of a step, in one order of the lines.
struct StepWalk {
  double below_ns = 0;
  double above_ns = 0;
};

/// Whether the plateau in the middle of three is no level: where each miss brings a second line, one of both
/// hits in rings somewhat larger than the cache, and the curve stands half-way for half an octave and more.
bool is_of_prefetchers(const Curve& curve, const Plateau& below, const Plateau& above, double page_bytes);

/// Whether there is a step in that order: by a tenth, which is more than two walks of the same differ by.
bool rises(const StepWalk& walk);

/// Whether a step from a plateau of `plateau_ns` (at random) is gone when each page is finished before the next one
/// begins, as those of translation buffers are. It is not where both sides are slow: then something else took the
/// level away while they were walked.
bool goes_away_by_page(const StepWalk& by_page, double plateau_ns);

}  // namespace tally::memory
