/// The extended processor state in a signal frame of the program: as large as the processor that it sees makes it.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Returns the size of the state in the program's frame. `kernel_state`: the state in the kernel's frame; 0: none.
u64 frame_bytes_of_state(u64 kernel_state);

/// Writes the state to the program's frame. Returns false if the memory cannot be written.
bool write_frame_state(u64 to, u64 kernel_state);

/// The size of the largest state in a frame of the processor that the program sees. Only if that is not the real one.
u64 presented_frame_bytes();

}  // namespace tally::engine::guest
