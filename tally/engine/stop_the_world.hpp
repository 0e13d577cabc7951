/// Threads stop where their state is exact: while translated code is thrown away, and when their process ends.
///
/// A thread is *inside* while it may run translated code, or knows an address or a number of it. *Outside*, in the
/// kernel or at a gate, its counts are exact and what it knows are the program's own registers and addresses. One
/// thread at a time may stop the others: it holds those that are outside and asks those that are inside to come out.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Thread::where. `held`: outside, and may not come in yet; `stopped`: never; `gone`: it was killed, with its process.
enum Where : u32 { inside, outside, held, stopped, gone };

/// Before a system call of the program, and wherever else a thread may block for long. Nobody asks a thread to come out
/// afterwards, so that no such request ever interrupts the call.
void go_out(Thread* t);
/// Back again; waits while it is held.
void come_in(Thread* t);

/// Asks `to` to come out, if it is to: by a signal, which also wakes it where it sleeps.
void ask_out(const Thread* from, const Thread* to);
/// Whether another thread waits for this one to come out.
bool is_asked_out(const Thread* t);
/// Out and in again. Its counts must be exact, and its `pc` a program address.
void step_aside(Thread* t);

/// The right to stop others, and what it is given up with: those that were held may come in.
bool try_take_floor(Thread* t);
void give_turn(Thread* t);
/// The same for the dead thread with this lock_id, where it has it.
void give_floor_for_dead(u32 holder);
/// Waits for it, outside.
void take_turn(Thread* t);

/// Holds every other thread of the address space. False when one did not come out within ten seconds.
bool hold_others(Thread* t);

/// All other threads of the process stop for good. Gives up after a second: then `partial`.
void stop_others(Thread* t);

/// Whether the process goes on natively: then nobody can be asked any more, and nothing is translated. It is about to:
/// true for the first thread that says so.
bool leaving();
bool begin_leaving();

/// In the child of a fork nobody stops anybody.
void stops_after_fork(Thread* t);

/// How a thread is asked: SIGILL, since the instruction that raises one by itself does so again when its own was lost
/// to one that was sent at the same time. (SIGTRAP comes after its instruction, and a tracer sees it.)
inline constexpr int request_signal = 4;
bool is_request(const u8* info);

}  // namespace tally::engine
