// SIGINT and SIGTERM: the run ends at the next instruction, with what is known until then.
#pragma once

#include <cstdint>

#include "tally/lab/journal.hpp"

namespace tally::lab {

/// From now on the first of them is noted, and the second one ends the program at once.
void note_signals();

/// The signal that was noted; 0: none.
int noted_signal();

/// How a run ends then, before the instruction at `address`.
End stopped_by_signal(std::uint64_t address);

/// Ends the program as the signal would have, so that whoever waits for it knows.
void end_by_signal();

}  // namespace tally::lab
