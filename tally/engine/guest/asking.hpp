/// What the program itself may ask.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// prctl(2) with channel::ask_option: what it returns to the program.
s64 answer(Thread* t, u64 asked, u64 to, u64 bytes);

}  // namespace tally::engine::guest
