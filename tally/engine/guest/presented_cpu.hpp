/// The processor that the program sees, if it is not the real one: channel::PresentedCpu.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::guest {

/// Prepares the answers, and changes what the kernel wrote about the processor to the auxiliary vector. Before any code
/// of the program runs.
void presented_cpu_init(u64* auxiliary);

/// Returns what the kernel reports as AT_MINSIGSTKSZ for the presented processor: on Linux 6.18, 940 bytes more than
/// its state. 0 if the real processor is presented.
u64 presented_signal_stack_bytes();

}  // namespace tally::engine::guest
