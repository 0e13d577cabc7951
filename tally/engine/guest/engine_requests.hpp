/// Requests that the measured program itself makes to the engine.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Serves prctl(2) with channel::ask_option. Returns the result of that call for the program.
s64 answer(Thread* t, u64 asked, u64 to, u64 bytes);

}  // namespace tally::engine::guest
