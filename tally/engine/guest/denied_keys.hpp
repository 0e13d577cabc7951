/// Programs that deny access to memory with protection key 0, which the engine uses. They continue natively before they
/// do so.
#pragma once
#include "tally/engine/context.hpp"

namespace tally::engine::guest {

/// Whether access to memory with key 0 will be denied after the return from the handler whose frame has this context:
/// by the register value in the frame, or by an instruction that the program executes natively.
bool frame_denies_own_key(const Context& c);

/// Returns the key register as it was when the kernel interrupted the program and created this context. During a
/// handler the register has its initial value, which denies all keys but 0. Call it only if the processor supports
/// keys.
u32 keys_of_program(const Context& c);

/// Whether key 0 is allocated. A program may free it.
bool own_key_is_allocated();

}  // namespace tally::engine::guest
