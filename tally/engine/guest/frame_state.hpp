/// The extended processor state in a signal frame of the program: as large as the processor that it sees makes it.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Returns the size of the state in the program's frame. `kernel_state`: the state in the kernel's frame; 0: none.
u64 frame_bytes_of_state(u64 kernel_state);

/// Writes the state to the program's frame. Returns false if the memory cannot be written.
bool write_frame_state(u64 to, u64 kernel_state);

/// Memory for the state of a frame that is as large as the presented processor makes it.
struct FrameState {
  alignas(64) u8 bytes[4096];
};
/// Copies the state of the program's frame to `copy`, from where the kernel can load it, and returns its address. The
/// kernel refuses state so near the end of the address space that the real processor's would not fit there. Returns
/// `state` if it need not be copied, or cannot be read.
u64 loadable_frame_state(u64 state, FrameState& copy);

/// The size of the largest state in a frame of the processor that the program sees. Only if that is not the real one.
u64 presented_frame_bytes();

}  // namespace tally::engine::guest
