/// Requests from the engine to the command that started the program.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Sends a request; returns true if the command fulfilled it. The command answers within milliseconds, unless it has
/// ended. If `file` is not negative, the command gets this descriptor, and it is closed here before the answer arrives.
bool ask_command(Thread* t, channel::EngineRequest request, s64 file = -1);

}  // namespace tally::engine
