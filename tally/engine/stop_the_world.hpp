/// Stops threads where their state is exact: while translated code is discarded, and when their process ends.
///
/// A thread is *inside* while it may run translated code, or holds an address or number of it. *Outside*, in the kernel
/// or at a gate, its counts are exact and it holds only the program's own registers and addresses. One thread at a time
/// has the right to stop the others (`take_turn`): it holds those outside and asks those inside to come out.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Thread::where. Held: outside and must wait; stopped: outside for good; the last value: killed with its process.
enum Where : u32 { inside, outside, held, stopped, killed };

/// Called before a system call of the program, and wherever else a thread may block for long. Afterwards nobody asks
/// the thread to come out, so such a request never interrupts the call.
void go_out(Thread* t);
/// Returns to the inside. Waits while the thread is held.
void come_in(Thread* t);

/// Asks thread `to` to come out, by a signal that also wakes it if it sleeps.
void ask_out(const Thread* from, const Thread* to);
/// The same for a thread of another process of the tree, which finds in its record what is asked.
void ask_out_elsewhere(s32 pid, s32 tid);
/// Whether another thread waits for this one to come out.
bool is_asked_out(const Thread* t);
/// Goes out and comes in again. The thread's counts must be exact, and its `pc` a program address.
void step_aside(Thread* t);

/// Takes the right to stop others if it is free, or releases it. Releasing it lets the held threads come in.
bool try_take_turn(Thread* t);
void give_turn(Thread* t);
/// Releases this right if the dead thread with this lock_id has it.
void give_turn_for_dead(u32 holder);
/// Takes this right; waits outside until it is free.
void take_turn(Thread* t);

/// Holds every other thread of the address space. Returns false if one did not come out within ten seconds.
bool hold_others(Thread* t);

/// Stops all other threads of the process for good. Gives up after a second and marks the counts as `partial`.
void stop_others(Thread* t);

/// leaving(): whether the process continues natively; then no thread can be asked to come out, and nothing is
/// translated. begin_leaving() sets this, and returns true for the first thread that calls it.
bool leaving();
bool begin_leaving();

/// Resets the state in the child of a fork.
void stops_after_fork(Thread* t);

/// The signal that asks a thread to come out. It is SIGILL because an instruction that raises SIGILL does so again if
/// the kernel merged the two signals. (SIGTRAP follows its instruction, and a tracer sees it.)
inline constexpr int request_signal = 4;
bool is_request(const u8* info);

}  // namespace tally::engine
