// The description of tally as a whole, for `tally --help` and tally(1).
#pragma once

namespace tally::manual {

inline constexpr const char* overview =
    "tally counts what programs do on the processor (instructions, branches, cache misses, page faults), and reports "
    "how reliable each count is.";

}  // namespace tally::manual
