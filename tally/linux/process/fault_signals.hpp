// Signals of the processor.
#pragma once

namespace tally::linux {

/// Whether the kernel sends it for what an instruction did: an invalid access, an unknown instruction, a trap.
bool is_fault_signal(int signal);

}  // namespace tally::linux
