// Which file a command's name stands for.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// The file that `name` stands for, as execvp would find it: itself where it has a slash, else the first executable
/// file in the folders of `search_path` (an empty folder is the working directory).
/// Errors: not_found where there is no such file; not_executable where there is one that may not be executed or is a
/// directory. Cost: some system calls for each folder.
Result<std::string> find_program(const std::string& name, const std::string& search_path);

/// Replaces this program by another one: the file, and what follows its name. Returns only where that fails.
/// Errors: as find_program().
Error become(const std::string& path, const std::vector<std::string>& arguments);

/// $PATH, or what the C library searches where that is not set.
std::string search_path();

}  // namespace tally::linux
