/// From a signal that the program is to have to its handler: which comes first, the frame that it gets, and what
/// happens where there is no handler or no room for the frame. As the kernel does it: kernel/signal.c,
/// arch/x86/kernel/signal.c.
#pragma once
#include "tally/engine/guest/frame.hpp"

namespace tally::engine::guest {

/// Whether a signal with this action is dropped instead of delivered.
bool is_ignored(const Action& a, int signal);

/// Takes the signal that the thread is to have next. False when there is none.
bool next_signal(Thread* t, int& signal, u8* info);
/// Whether there may be one, or another reason to look.
bool awaits_delivery(const Thread* t);

/// Runs the program's handler for `signal`, the program being at c->ip with the registers of `c`. Returns only when the
/// program dies of it: then the engine's handler returns with `c`.
void deliver(Thread* t, Context* c, int signal, u8* info);

/// A signal of the processor, at c->ip: the program dies of it where it blocks or ignores it.
void raise(Thread* t, Context* c, int signal, u8* info);

/// The kernel's SIGSEGV where a frame cannot be written or read. `failed`: the signal whose frame it was, else 0.
void force_sigsegv(Thread* t, Context* c, int failed);

/// Whether `sp` lies on the program's alternate stack while that is in use.
bool is_on_alternate_stack(const AltStack& alt, u64 sp);

/// Goes on in the engine with the registers in Thread.
[[noreturn]] void go_on(Thread* t);

}  // namespace tally::engine::guest
