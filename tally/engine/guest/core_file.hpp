/// The threads of a process that dies, as its core file shows them.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::guest {

/// The process is about to die by `signal`, all signals are blocked, and its other threads have stopped for good. Where
/// a core file is written of it, that has the program's registers of each thread from now on.
void show_in_core_file(const Thread* t, int signal);

}  // namespace tally::engine::guest
