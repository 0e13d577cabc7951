/// Marks whose instructions change nothing, at the gates of their traces: see translate/program_marks.hpp.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::instrument {

/// Carries out the mark at the thread's pc, if there is one. Returns whether the thread continues with its
/// instructions; otherwise its pc has changed.
bool handle_program_mark(Thread* t);

}  // namespace tally::engine::instrument
