/// Limits on address space that the program sets for itself.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Handles prlimit64(2), and with it getrlimit and setrlimit. `set` and `old` are the program's arguments, 0 if absent.
/// Raises a limit on address space or data by what the engine needs, and reports it as the program set it.
s64 emulate_limit(Thread* t, u64 process, u64 resource, u64 set, u64 old);

}  // namespace tally::engine::guest
