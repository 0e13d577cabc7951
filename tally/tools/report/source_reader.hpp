// Reads source files from the paths in the debug information, and instructions by objdump.
#pragma once

#include "tally/output/kinds/profile_format.hpp"

namespace tally::report {

output::SourceReader source_reader();

output::InstructionReader instruction_reader();

}  // namespace tally::report
