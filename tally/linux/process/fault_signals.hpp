// Signals that instructions cause.
#pragma once

namespace tally::linux {

/// Whether the kernel sends this signal because of an instruction: an invalid access, an unknown instruction, a trap.
bool is_fault_signal(int signal);

}  // namespace tally::linux
