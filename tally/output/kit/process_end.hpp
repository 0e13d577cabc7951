// How a process of a result ended, as text.
#pragma once

#include <string>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

/// How a process ended: "exit 0", "SIGKILL", "exec", "running", "unknown".
std::string end_text(const result::Process& process);

/// Whether only the threads of a process are known: they were stored without it.
bool has_only_threads(const result::Process& process);

}  // namespace tally::output
