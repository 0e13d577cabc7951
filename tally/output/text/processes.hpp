// The processes of a result, one row each.
#pragma once

#include <string>

#include "tally/output/formats/stat_format.hpp"
#include "tally/output/text/footnotes.hpp"

namespace tally::report {

/// How a process ended: "exit 0", "SIGKILL", "exec", "running", "unknown".
std::string end_text(const result::Process& process);

/// Whether nothing is known of a process but its threads: they were stored without it.
bool has_only_threads(const result::Process& process);

/// One row for each process, and for each thread where asked, with a few events; empty where there are none.
std::string processes_block(const result::Stat& stat, const Style& style, Footnotes& notes);

}  // namespace tally::report
