/// From a program address to a cache address: what every door of the engine asks.
#pragma once
#include "tally/engine/context.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// What an instruction that was executed at its own address counts; `after` is what it left.
void count_stepped(Thread* t, Context* after);

}  // namespace tally::engine::guest
