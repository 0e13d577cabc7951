/// What a program read that may differ from run to run: how often, and where first.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// The sources of differences. Each thread has a counter for each of them: the segments after those of Dynamic.
enum Source : uint32_t {
  source_cpuid,               ///< cpuid: the processor
  source_xgetbv,              ///< xgetbv: the processor's register state
  source_time_stamp,          ///< rdtsc, rdtscp, outside of the vdso
  source_random_instruction,  ///< rdrand, rdseed
  source_random_call,         ///< getrandom(2)
  source_random_file,         ///< /dev/random or /dev/urandom was opened
  source_clock,               ///< clock functions of the vdso, and system calls that return times
  source_pid,                 ///< system calls that return IDs of processes and threads
  source_listing,             ///< getdents(2): directory entries, in the order of the file system
  source_race,                ///< a futex call of another thread than the last one at that address
  source_signal,              ///< a signal that the program did not send to itself
  source_host,         ///< names, processors and memory of the machine: uname(2), sysinfo(2), files of /proc and /sys
  source_transaction,  ///< xbegin: natively a transaction may commit; here it never does
  source_kernel_file,  ///< files of /proc and /sys that change while the machine runs
  source_state,        ///< numbers that the kernel assigns, file times, and what depends on other processes
  source_count
};

/// A location of code in a file.
struct SourceLocation {
  uint64_t offset;  ///< in the file; of the first instruction
  char file[240];   ///< path as in /proc/PID/maps, cut at 239 bytes; "[vdso]"; empty: unknown
};

/// The first read of a source in a run, and the reads of all threads that have ended.
struct SourceRecord {
  uint64_t count;
  uint32_t state;         ///< 0: nothing was read; 1: being written; 2: complete
  uint32_t process;       ///< index of its Process
  SourceLocation first;   ///< the instruction that read it; for the vdso, the call
  SourceLocation caller;  ///< the innermost return address on the stack that belongs to another file
};

}  // namespace tally::channel
