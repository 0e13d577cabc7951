/// Signals: the engine owns the kernel's handlers, the program's run as if they were the kernel's.
#pragma once
#include "tally/engine/guest/pending.hpp"

namespace tally::engine::guest {

/// Installs the engine's handlers, and its alternate stack for the calling thread.
void signals_init(Thread* t);
void use_signal_stack(Thread* t);

/// Sets the program's mask; the kernel's follows. What it lets through is delivered before program code runs on.
void set_mask(Thread* t, u64 mask);
/// What waits to be delivered is looked at before program code runs on.
void deliver_soon(Thread* t);
/// Blocks everything in the kernel but what the engine needs / goes back to what the program's mask says.
void block_all();
void unblock(Thread* t);
/// For the time of a system call of the program, which may look at what is pending, wait for it or read it from a
/// descriptor: the kernel blocks all that the program blocks and has what was pending here. unblock() ends it.
void show_blocked(Thread* t);
/// Signals that the engine needs, too: nothing of this thread may run any more.
void block_everything();
/// A system call that was counted did not begin.
void correct_unbegun(Thread* t);

s64 emulate_sigaction(Thread* t, u64 signal, u64 action, u64 old, u64 size);
s64 emulate_sigprocmask(Thread* t, u64 how, u64 set, u64 old, u64 size);
s64 emulate_sigaltstack(Thread* t, u64 set, u64 old);
s64 emulate_sigpending(Thread* t, u64 set, u64 size);
s64 emulate_sigtimedwait(Thread* t, u64 set, u64 info, u64 size);
s64 emulate_signalfd(Thread* t, u64 mask, u64 size);
/// A call that sends `signal` with the siginfo at which register `info` points, to process or thread `to`.
s64 send_with_info(Thread* t, u8 info, u64 to, u64 signal);
s64 send_by_descriptor(Thread* t);
/// read(2), where it may read signals.
s64 emulate_read(Thread* t, u64 buffer);
/// A call that replaces the mask for its time: the argument in register `reg` points to the mask; to its address and
/// size; or it is io_uring_enter(2).
s64 run_with_mask(Thread* t, u8 reg, u64 size);
s64 run_with_mask_pair(Thread* t, u8 reg);
s64 run_with_mask_of_ring(Thread* t);
/// Returns only, with restart_counts, when a signal must be delivered first, or with 0 where there is no frame.
s64 emulate_sigreturn(Thread* t);
/// arch_prctl(ARCH_REQ_XCOMP_PERM): larger frames, for which alternate stacks may be too small.
s64 ask_for_state(Thread* t);

/// CLONE_CLEAR_SIGHAND: what the program handles is as by default, what it ignores stays ignored.
void clear_actions(Thread* t);

/// In the child of a fork: what waited or was going on in the parent is the parent's.
void signals_after_fork(Thread* t);
/// What a new program inherits must be in the kernel: blocked and ignored signals, those that the engine needs too.
void signals_for_exec(Thread* t);
void signals_after_failed_exec(Thread* t);

/// The program goes on natively, for good.
[[noreturn]] void leave(Thread* t, channel::Partial why);

/// Copies to or from program memory; -EFAULT when it is not there.
s64 put(u64 to, const void* from, u64 n);
s64 get(void* to, u64 from, u64 n);

}  // namespace tally::engine::guest
