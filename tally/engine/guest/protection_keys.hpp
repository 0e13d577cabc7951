/// Programs that deny themselves memory of key 0, which is the engine's: they go on natively before they do.
#pragma once
#include "tally/engine/context.hpp"

namespace tally::engine::guest {

/// Whether memory of key 0 is denied once the program is back from the handler whose frame has this context: by the
/// register's value in the frame, or by an instruction that the program will execute alone.
bool frame_denies_own_key(const Context& c);

/// The register as it was when the kernel interrupted the program and made this context: for the time of a handler it
/// has the initial value, which denies all keys but 0. Only where there are keys.
u32 keys_of_program(const Context& c);

/// Whether key 0 is allocated. A program may free it.
bool own_key_is_allocated();

}  // namespace tally::engine::guest
