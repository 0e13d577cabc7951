/// Flush of the whole code cache while the program's threads run.
#pragma once
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {

/// Discards all translated code and stops the other threads meanwhile, or waits while another thread does so. The
/// calling thread is at its `pc`, holds no lock, and has no link to patch. Returns false if that was not possible.
bool flush(Thread* t);
/// Repeats flush() until it is done. The calling thread may be in a system call of the program.
bool flush_until_done(Thread* t);

}  // namespace tally::engine::guest
