// The formats of files that `tally report` reads.
#pragma once

#include <vector>

#include "tally/output/kinds/format.hpp"

namespace tally::results {

/// Those of report::all_formats(), and the sweeps of `tally discover`.
const std::vector<const output::Format*>& reported_formats();

}  // namespace tally::results
