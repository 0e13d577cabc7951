/// Counts system calls and signals that may make runs differ: channel::Source.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// The thread is about to make the system call that its registers describe. Returns the Source that it reads;
/// source_count if it reads none.
u32 count_sources_of_call(Thread* t);
/// The call, which has read `source`, has returned `result`; the registers are still its arguments. Counts
/// source_state, which depends on the result.
void note_read_of_call(Thread* t, u32 source, s64 result);
/// The thread is about to receive a signal that was sent. `info` is its siginfo.
void count_signal(Thread* t, const u8* info);

}  // namespace tally::engine::guest
