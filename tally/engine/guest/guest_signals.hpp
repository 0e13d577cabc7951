/// Signals: the kernel calls the engine's handlers, and the engine runs the program's handlers as the kernel would.
#pragma once
#include "tally/engine/guest/pending.hpp"

namespace tally::engine::guest {

/// Installs the engine's handlers, and its alternate stack for the calling thread.
void signals_init(Thread* t);
void use_signal_stack(Thread* t);

/// Sets the program's mask, and the kernel's accordingly. Signals that it unblocks are delivered before program code
/// runs.
void set_mask(Thread* t, u64 mask);
/// Requests that pending signals are delivered before program code runs.
void deliver_soon(Thread* t);
/// Blocks every signal in the kernel except those that the engine needs; unblock() restores the program's mask.
void block_all();
void unblock(Thread* t);
/// Prepares for a system call of the program that may query pending signals, wait for them or read them from a
/// descriptor: the kernel then blocks all that the program blocks, and holds what was pending in the engine. unblock()
/// ends this.
void show_blocked(Thread* t);
/// Blocks all signals, including those that the engine needs: no code of this thread may run any more.
void block_everything();
/// Corrects the counts for a system call that was counted but did not begin.
void correct_unbegun(Thread* t);

s64 emulate_sigaction(Thread* t, u64 signal, u64 action, u64 old, u64 size);
s64 emulate_sigprocmask(Thread* t, u64 how, u64 set, u64 old, u64 size);
s64 emulate_sigaltstack(Thread* t, u64 set, u64 old);
s64 emulate_sigpending(Thread* t, u64 set, u64 size);
s64 emulate_sigtimedwait(Thread* t, u64 set, u64 info, u64 size);
s64 emulate_signalfd(Thread* t, u64 mask, u64 size);
/// Makes a call that sends `signal` to process or thread `to`. Register `info` points to the siginfo.
s64 send_with_info(Thread* t, u8 info, u64 to, u64 signal);
s64 send_by_descriptor(Thread* t);
/// Emulates read(2), which may read signals.
s64 emulate_read(Thread* t, u64 buffer);
/// Make a call that replaces the mask while it runs. Argument register `reg` points to the mask; or to the mask's
/// address and size; or the call is io_uring_enter(2).
s64 run_with_mask(Thread* t, u8 reg, u64 size);
s64 run_with_mask_pair(Thread* t, u8 reg);
s64 run_with_mask_of_ring(Thread* t);
/// Returns only if a signal must be delivered first, with restart_counts, or with 0 if there is no frame.
s64 emulate_sigreturn(Thread* t);
/// arch_prctl(ARCH_REQ_XCOMP_PERM): permits larger frames, for which alternate stacks may be too small.
s64 ask_for_state(Thread* t);

/// CLONE_CLEAR_SIGHAND: resets handled signals to the default action and keeps ignored signals ignored.
void clear_actions(Thread* t);

/// In the child of a fork: forgets what was pending or in progress in the parent.
void signals_after_fork(Thread* t);
/// Moves what a new program inherits to the kernel: blocked and ignored signals, including those that the engine needs.
void signals_for_exec(Thread* t);
void signals_after_failed_exec(Thread* t);

/// Continues the program natively, for good.
[[noreturn]] void leave(Thread* t, channel::Partial why);

/// Copy to or from program memory. Return -EFAULT if the memory is not accessible.
s64 put(u64 to, const void* from, u64 n);
s64 get(void* to, u64 from, u64 n);

}  // namespace tally::engine::guest
