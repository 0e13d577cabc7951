/// Delivery of a signal to the program's handler: the order of signals, the signal frame, and what happens without a
/// handler or without room for the frame. Follows the kernel: kernel/signal.c, arch/x86/kernel/signal.c.
#pragma once
#include "tally/engine/guest/frame.hpp"

namespace tally::engine::guest {

/// Whether the process ignores a signal with this action.
bool is_ignored(const Action& a, int signal);

/// Takes the next signal to deliver to the thread. Returns false if there is none.
bool next_signal(Thread* t, int& signal, u8* info);
/// Whether a signal may be pending, or another reason to call next_signal().
bool awaits_delivery(const Thread* t);

/// Runs the program's handler for `signal`. The program is at c->ip with the registers of `c`. Returns only if the
/// signal kills the program; the engine's handler then returns with `c`.
void deliver(Thread* t, Context* c, int signal, u8* info);

/// Delivers a signal that the processor raised at c->ip. The program dies if it blocks or ignores the signal.
void raise(Thread* t, Context* c, int signal, u8* info);

/// Raises the SIGSEGV that the kernel raises when it cannot write or read a frame. `failed`: the signal of that frame,
/// or 0.
void force_sigsegv(Thread* t, Context* c, int failed);

/// Whether `sp` is on the program's alternate stack while the program uses that stack.
bool is_on_alternate_stack(const AltStack& alt, u64 sp);

/// Continues in the engine with the registers in Thread.
[[noreturn]] void go_on(Thread* t);

}  // namespace tally::engine::guest
