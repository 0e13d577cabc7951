/// Signals: the engine owns the kernel's handlers, the program's run as if they were the kernel's.
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine {

/// Installs the engine's handlers, and its alternate stack for the calling thread.
void signals_init(Thread* t);
void use_signal_stack(Thread* t);

/// Signals that the engine needs to receive whatever the program blocks: faults and the trap flag.
inline constexpr u64 bit(int signal) { return 1ull << (signal - 1); }
inline constexpr u64 engine_signals = bit(4) | bit(5) | bit(7) | bit(8) | bit(11);  // ILL TRAP BUS FPE SEGV

/// Sets the program's mask; the kernel's follows.
void set_mask(Thread* t, u64 mask);
/// Blocks everything in the kernel / goes back to what the program's mask says.
void block_all();
/// For the time of a system call of the program, which may look at what waits, wait for it or read it from a
/// descriptor: the kernel blocks all that the program blocks and has what was held. unblock() ends it.
void show_blocked(Thread* t);
/// A signal that the program blocks and the kernel could not.
void hold(Thread* t, int signal, const u8* info);
/// Signals that the engine needs, too: nothing of this thread may run any more.
void block_everything();
/// A system call that was counted did not begin.
void correct_unbegun(Thread* t);
void unblock(Thread* t);

s64 emulate_sigaction(Thread* t, u64 signal, u64 action, u64 old, u64 size);
s64 emulate_sigprocmask(Thread* t, u64 how, u64 set, u64 old, u64 size);
s64 emulate_sigaltstack(Thread* t, u64 set, u64 old);
/// Returns only, with begin_anew, when a signal must be delivered first.
s64 emulate_sigreturn(Thread* t);

/// CLONE_CLEAR_SIGHAND: what the program handles is as by default, what it ignores stays ignored.
void clear_actions(Thread* t);

/// In the child of a fork: what waited or was going on in the parent is the parent's.
void signals_after_fork(Thread* t);
/// What a new program inherits must be in the kernel: blocked and ignored signals, those that the engine needs too.
void signals_for_exec(Thread* t);
void signals_after_failed_exec(Thread* t);

/// The program goes on natively, for good.
[[noreturn]] void leave(Thread* t, channel::Partial why);
bool leaving();

/// Copies to or from program memory; -EFAULT when it is not there.
s64 put(u64 to, const void* from, u64 n);
s64 get(void* to, u64 from, u64 n);

}  // namespace tally::engine
