// The processes of a result, one row per process.
#pragma once

#include <string>

#include "tally/output/formats/stat_format.hpp"
#include "tally/output/text/footnotes.hpp"

namespace tally::report {

/// How a process ended: "exit 0", "SIGKILL", "exec", "running", "unknown".
std::string end_text(const result::Process& process);

/// Whether only the threads of a process are known: they were stored without it.
bool has_only_threads(const result::Process& process);

/// One row per process, and per thread if requested, with a few events; empty if there are none.
std::string processes_block(const result::Stat& stat, const Style& style, Footnotes& notes);

}  // namespace tally::report
