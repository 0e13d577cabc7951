/// Handlers of the system calls that the engine does not pass through unchanged; syscall_table.inc names them.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Each handler makes or emulates the call whose registers are in `gpr`, and returns the kernel's result.
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
