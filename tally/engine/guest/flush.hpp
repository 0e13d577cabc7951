/// A cache that is full is thrown away whole, while the program's threads run.
#pragma once
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::guest {

/// Throws all translated code away and stops the other threads for that; or waits while another thread does. The
/// calling thread stands at its `pc`, holds no lock and comes from no link. False when that was not possible.
bool flush(Thread* t);
/// The same until it is done. The calling thread may be in a system call of the program.
bool throw_code_away(Thread* t);

}  // namespace tally::engine::guest
