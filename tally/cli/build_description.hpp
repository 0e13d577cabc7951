// What `tally --version` prints: the version, the commit and the build.
#pragma once

#include <string>
#include <string_view>

#include "tally/cli/commands.hpp"

namespace tally::cli {

/// The first 12 digits of the hash of the commit that was built; empty if the sources do not say. cmake/commit.cmake
/// generates the definition.
std::string_view commit();

/// "tally 0.9.0" in the first line, for programs; commit, if known, and build in the lines below it.
std::string build_description();

}  // namespace tally::cli
