/// What time it is, for rows of windows: by the kernel's code in the program's memory (the vdso), as long as it is
/// there. 28 ns, and 278 ns by a system call (a virtual machine on an AMD EPYC).
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine {

/// `vdso`: AT_SYSINFO_EHDR; 0: there is none. Once, at the start.
void clock_init(u64 vdso);
/// CLOCK_MONOTONIC.
u64 clock_ns();
/// The program takes this range of its memory away.
void clock_unmapped(u64 start, u64 end);
/// The time-stamp counter may not be read any more: by system calls from now on.
void clock_without_time_stamp();

}  // namespace tally::engine
