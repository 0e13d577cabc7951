// Information about the process that executes this code, which may be a user's program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// Return the IDs of the calling thread and of its process.
std::int32_t thread_number();
std::int32_t process_number();

/// Returns the program and its arguments as of its start (/proc/self/cmdline); empty if they cannot be read.
std::vector<std::string> own_command();

/// Returns the CPU time of all threads of this process.
Nanoseconds own_time();

/// Returns the kernel's code in this process ([vdso]), an ELF file; it is the same in all processes of its kind. Empty
/// if there is none.
std::string own_vdso();

/// Registers functions that are called around each fork(2): before it, and after it in the parent and in the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace tally::linux
