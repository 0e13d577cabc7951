// SIGINT and SIGTERM for a program that works alone: the first is noted, and the work ends with what is known.
#pragma once

namespace tally::linux {

/// From now on the first of them is noted, and the second one ends the program at once. One that is ignored stays so.
void note_ending_signals();

/// The signal that was noted; 0: none.
int noted_signal();

}  // namespace tally::linux
