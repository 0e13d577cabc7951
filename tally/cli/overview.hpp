// What tally says about itself as a whole: `tally --help` and tally(1) are made of it.
#pragma once

#include <string>

namespace tally::cli {

inline constexpr const char* overview =
    "tally counts what the processor did for a command, and says of every number how far it can be trusted.";

/// The text of `tally --help`.
std::string help();

}  // namespace tally::cli
