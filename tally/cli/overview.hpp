// What tally says about itself as a whole: `tally --help` and tally(1) are made of it.
#pragma once

#include <string>

namespace tally::cli {

inline constexpr const char* overview =
    "tally counts what programs do on the processor (instructions, branches, cache misses, page faults), and reports "
    "how reliable each count is.";

/// The text of `tally --help`.
std::string help();

}  // namespace tally::cli
