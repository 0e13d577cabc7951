// The processes of a result, one row per process.
#pragma once

#include <string>

#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/footnotes.hpp"

namespace tally::output {

/// One row per process, and per thread if requested, with a few events; empty if there are none.
std::string processes_block(const result::Stat& stat, const Style& style, Footnotes& notes);

}  // namespace tally::output
