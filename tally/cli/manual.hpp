// Man pages and completion, made of the same table and pages as --help. The build prints them with the built command.
#pragma once

#include <string>

namespace tally::cli {

/// tally-NAME(1) of a command, or tally(1) for an empty name, as groff takes it; empty for a name that is no command's.
std::string manual(const std::string& name);

/// What bash completes after `tally`.
std::string bash_completion();

}  // namespace tally::cli
