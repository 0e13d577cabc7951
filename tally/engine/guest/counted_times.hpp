/// Processor times by the counted clock (counted_clock.hpp): of processes, of their children and other threads, and in
/// files of /proc.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// The process of `t` begins, with this thread. `is_program`: it has executed another program, and its times continue.
void begin_times(Thread* t, bool is_program);
/// The thread has used the processor.
void use_processor(Thread* t, u64 ns);

/// The processor time of the thread's process.
u64 process_time_of(Thread* t);
/// Reads the clock of another process, or of another thread of this one. False if it is none that the engine counts.
bool read_other_clock(Thread* t, s32 clock, u64& ns);

/// Makes times(2), getrusage(2), wait4(2) or waitid(2). False if it is another call.
bool make_times_call(Thread* t, u32 number, s64 (*call)(Thread* t, u32 number), s64& r);

/// Writes the content of a file of /proc with times, as it is now. Returns its bytes; 0 for another file.
inline constexpr u32 times_file_bytes = 2048;
u32 write_times_file(Thread* t, const char* path, char (&to)[times_file_bytes]);

}  // namespace tally::engine::guest
