// SIGINT and SIGTERM for a program that works alone: the first is noted, and the work ends with what is known.
#pragma once

namespace tally::linux {

/// From now on the first of them is noted, and the second one ends the program at once. One that is ignored stays so.
/// The first one ends system calls that wait, makes is_interrupted() true, and stops a tool that runs (run_tool()).
void note_ending_signals();

/// After note_ending_signals(): from now on the kernel restarts system calls that one of them interrupts, so that no
/// output is lost.
void restart_calls();

/// The signal that was noted; 0: none.
int noted_signal();

}  // namespace tally::linux
