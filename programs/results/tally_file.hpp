// The file of `tally`, which counts and compares for the commands of tally-results.
#pragma once

#include <string>

namespace tally::results {

/// The path of `tally`: next to this program in a build tree, in the directory of commands where it is installed.
std::string tally_file();

}  // namespace tally::results
