/// 32-bit system calls of 64-bit programs (int 0x80), which their copies make like other instructions.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Does what the engine does before such a call: records it, ends the thread or process itself, and continues natively
/// before calls that it would have to make itself. Returns false if there is another instruction at t->pc.
bool prepare_old_call(Thread* t);

}  // namespace tally::engine::guest
