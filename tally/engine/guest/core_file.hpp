/// Program registers for the threads in the core file of a dying process.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::guest {

/// Makes the core file of this process, if one is written, show the program's registers of each thread. Call it when
/// the process is about to die by `signal`, all signals are blocked, and its other threads have stopped for good.
void show_in_core_file(const Thread* t, int signal);

}  // namespace tally::engine::guest
