// The command under the name `valgrind`, for programs that start valgrind themselves.
#pragma once

#include <string>
#include <vector>

namespace tally::cli {

/// Runs `tally callgrind` with the arguments of valgrind, whose default tool is memcheck. Returns its exit code, which
/// is 1 for wrong usage.
int run_valgrind_front(const std::vector<std::string>& arguments);

}  // namespace tally::cli
