// Reads source files from the paths in the debug information.
#pragma once

#include "tally/output/kinds/profile_format.hpp"

namespace tally::report {

output::SourceReader source_reader();

}  // namespace tally::report
