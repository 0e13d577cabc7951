// Records SIGINT and SIGTERM for a program without a child, which then ends with the results so far.
#pragma once

namespace tally::linux {

/// From now on the first of these signals is recorded, and the second one ends the program at once. An ignored signal
/// stays ignored. The first one ends blocked system calls, makes is_interrupted() true, and stops a running tool
/// (run_tool()).
void note_ending_signals();

/// After note_ending_signals(): makes the kernel restart system calls that these signals interrupt, so that no output
/// is lost.
void restart_calls();

/// Returns the recorded signal; 0: none.
int noted_signal();

}  // namespace tally::linux
