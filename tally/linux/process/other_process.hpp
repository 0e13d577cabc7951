// Reads what another process has in its memory, and its CPU time.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tally::linux {

/// Reads memory of a process without stopping it. Returns false unless all bytes were read. Needs the permission of
/// ptrace(2), PTRACE_MODE_ATTACH_REALCREDS.
bool read_memory(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes);

/// CPU time of all threads of a process, in nanoseconds; 0 if it has ended.
std::int64_t cpu_time_of(pid_t process);

}  // namespace tally::linux
