// The formats of `tally report`.
#pragma once

#include <vector>

#include "tally/output/kinds/format.hpp"

namespace tally::results {

/// Those of output::formats(), the rows of LENS, the sweeps of `tally discover`, and those that it writes for `tally
/// memory` and `tally verify`.
const std::vector<const output::Format*>& reported_formats();

}  // namespace tally::results
