// Counts of tally as LIKWID returns them.
#pragma once

#include "tally/library/tally.h"

namespace tally::compat {

constexpr int most_events = 16;

/// NaN for a count that is absent.
double number_of(const tally_count& count);

}  // namespace tally::compat
