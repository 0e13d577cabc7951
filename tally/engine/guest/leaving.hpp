/// Detaching a process from the engine before another process of the tree controls it, so that the controller sees a
/// native process.
///
/// The controlling process requests this with a word in the channel and one signal. The other process brings all of its
/// threads out of the engine, including those that sleep in a system call, and continues natively. Interrupted calls
/// restart. Its counts are `partial` with this reason.
#pragma once
#include "tally/engine/guest_thread.hpp"

namespace tally::engine::guest {

/// Makes the process of this thread (in the tree) leave the engine, unless this process may not control it anyway.
/// Returns when it has left. If it does not leave, both processes are partial. With `traces`, this process is about to
/// trace the other one. If that is stopped and has one thread, it can leave only then: asks it to leave, and returns
/// the record of its thread, for lead_out(). Otherwise returns 0.
u32 make_leave(Thread* t, u64 tid, bool traces = false);
/// Lets a traced thread whose record make_leave() returned run until it has left the engine and is about to execute its
/// next instruction. It then stops again as it was. `seized`: by PTRACE_SEIZE, not PTRACE_ATTACH.
void lead_out(u32 thread, u64 tid, bool seized);
/// The last step of a thread that has left: stops it if its tracer waits for that.
void stop_for_tracer(const Thread* t);

/// Whether this signal is a request to leave; if so, notes that this process has to leave.
bool is_leave_request(const Thread* t, const u8* info);
bool is_asked_to_leave();
/// Leaves the engine. A process that shares its memory with others refuses instead.
void leave_as_asked(Thread* t);
/// Ends the system calls of all other threads after this process has begun to leave: they make them natively again.
/// Unmaps the blocks of those that did.
void release_blocks_of_others(Thread* t);
/// Notes that this thread will execute no more engine code.
void note_left(const Thread* t);

}  // namespace tally::engine::guest
