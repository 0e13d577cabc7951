/// From a program address to a cache address: what every door of the engine asks.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// What an instruction that was executed at its own address counts; it led to `to`.
void count_stepped(Thread* t, u64 to);

}  // namespace tally::engine::guest
