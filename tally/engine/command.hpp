/// What the engine asks of the command that started the program.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Asks the command; true where it did what was wished. It answers within milliseconds or has ended. A `file` that is
/// not negative is a descriptor that the command gets: it is closed here before the answer is waited for.
bool ask_command(Thread* t, channel::Wish wish, s64 file = -1);

}  // namespace tally::engine
