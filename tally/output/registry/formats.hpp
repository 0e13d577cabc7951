// The registry of all formats. To add a format, write a file and add its row to formats.cpp.
#pragma once

#include <vector>

#include "tally/output/kinds/format.hpp"

namespace tally::output {

/// All rows, kind by kind. The headers of each kind (stat_format.hpp, windows.hpp, …) return the same rows with their
/// writers.
const std::vector<const Format*>& formats();

/// The rows of one kind.
std::vector<const Format*> formats_of(Kind kind);

}  // namespace tally::output
