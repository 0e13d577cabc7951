// Finds the file of a command.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Returns the file that execvp would execute for `name`: `name` itself if it contains a slash, else the first
/// executable file in the directories of `search_path` (an empty one is the working directory). Errors: not_found if
/// there is no such file; not_executable if it is not executable or is a directory. Cost: some system calls for each
/// directory.
Result<std::string> find_program(const std::string& name, const std::string& search_path);

/// Replaces this program by another one, which sees `command_line` as its name and arguments. Returns only on failure.
/// Errors: those of find_program().
Error become(const std::string& path, const std::vector<std::string>& command_line);

/// Returns $PATH, or what the C library searches if it is not set.
std::string search_path();

}  // namespace tally::linux
