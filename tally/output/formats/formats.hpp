// The registry: every format that is written or read here. To add a format, write a file and add its row to
// formats.cpp.
#pragma once

#include <vector>

#include "tally/output/formats/format.hpp"

namespace tally::report {

/// All rows, kind by kind. The headers of each kind (stat_format.hpp, windows.hpp, …) return the same rows with the way
/// to write them.
const std::vector<const Format*>& formats();

/// The rows of one kind.
std::vector<const Format*> formats_of(Kind kind);

}  // namespace tally::report
