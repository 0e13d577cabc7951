// The machine that runs the benchmark, and what is installed there.
#pragma once

#include <string>

namespace bench {

/// Returns the path of a program in PATH, or of one that is named by its path; empty if it is not installed.
std::string path_of(const std::string& program);

/// Returns processor, number of CPUs and kernel in one line.
std::string machine_line();

}  // namespace bench
