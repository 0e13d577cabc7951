/// System calls of the program that the engine makes in a way of its own: the handlers that syscall_table.inc names.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Each makes, or emulates, the call whose registers are in `gpr`, and returns the kernel's answer.
namespace calls {

#define PASSES(number, name, descriptors, why)
#define LOOKED_AT(number, name, descriptors, handler, why) s64 handler(Thread* t);
#define NATIVELY(number, name, descriptors, handler, why) s64 handler(Thread* t);
#define REFUSED(number, name, descriptors, error, why)
#include "tally/engine/guest/syscall_table.inc"
#undef PASSES
#undef LOOKED_AT
#undef NATIVELY
#undef REFUSED

}  // namespace calls
}  // namespace tally::engine::guest
