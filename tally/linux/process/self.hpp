// The process that this code runs in, where that is a program of somebody else's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// The number of the calling thread, and that of its process, as the kernel has them.
std::int32_t thread_number();
std::int32_t process_number();

/// The program that runs and its arguments, as they were when it began (/proc/self/cmdline); empty where that cannot be
/// read.
std::vector<std::string> own_command();

/// Time that all threads of this process have used of processors.
Nanoseconds own_time();

/// The kernel's code in this process ([vdso]), an ELF file; it is the same in all processes of its kind. Empty where
/// there is none.
std::string own_vdso();

/// What is called around each fork(2) from now on: before it, and after it in the parent and in the child.
void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace tally::linux
