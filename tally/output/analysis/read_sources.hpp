// Compares what the programs of two runs read that may make them differ.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// One line for each source that one run read more often than the other. Empty if a run has no list.
std::vector<std::string> differing_sources(const result::Run& before, const result::Run& after);

/// Whether it is the usual reading of every program's start, which changes nothing by itself.
bool is_usual(const result::ReadSource& source);

/// "main (prog)", "getpid (libc.so.6), called by main (prog)".
std::string reader_text(const result::ReadSource& source);

}  // namespace tally::output
