// --from-script: counts a Python script in a region of its own, without the start of the interpreter.
#pragma once

#include <string>
#include <vector>

#include "tally/cli/commands.hpp"
#include "tally/core/base/result.hpp"

namespace tally::cli {

void add_script_option(Page& page, bool& from_script);

/// Changes the command `python3 [options] SCRIPT [arguments]` so that the script runs in a region with its name.
/// `runner`: the Python file that does this. Errors: bad_usage for another command.
Result<std::vector<std::string>> script_command(std::vector<std::string> command, const std::string& runner);

/// Returns the path of that file: next to the running command in a build tree, in ../libexec/tally after installation.
/// Errors: cannot_measure if it is missing.
Result<std::string> find_script_runner();

}  // namespace tally::cli
