/// System calls whose results are the state of the kernel or of other processes, which another run finds changed.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Whether the call, which has returned `result`, gave the program something that --repeatable does not fix: a number
/// that the kernel assigned, a time or inode of a file that changed during the run, free blocks, expirations of a
/// timer, data or readiness of another process. Files that an
/// earlier run wrote count as the same in each run. The
/// registers are the call's arguments.
bool returns_state(const Thread* t, s64 result);

}  // namespace tally::engine::guest
