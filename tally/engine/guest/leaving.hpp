/// Who is about to control another process of the tree sees that one as it is natively: it leaves the engine first.
///
/// The controlling process asks by a word in the channel and one signal. The other brings all of its threads out, those
/// that sleep in a system call too, and goes on natively; calls that were interrupted begin again. `partial` by name.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::guest {

/// The process of this thread of the tree leaves, unless this process must not control it anyway. Returns once it has.
/// Where it does not, both are partial.
void make_leave(Thread* t, u64 tid);

/// Whether this is how it is asked, and that this process is to leave.
bool is_leave_request(const Thread* t, const u8* info);
bool is_asked_to_leave();
/// Leaves, or refuses: a process that shares its memory with others cannot.
void leave_as_asked(Thread* t);
/// This thread will execute nothing of the engine any more.
void note_left(const Thread* t);

}  // namespace tally::engine::guest
