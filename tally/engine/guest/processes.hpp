/// Processes: fork, clone, vfork, execve, exit, each done so that counts go on where the program does.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// clone(2) with these arguments; `stack` 0 = the parent's. What the parent's call returns.
s64 emulate_clone(Thread* t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
s64 emulate_clone3(Thread* t, u64 arguments, u64 size);

/// execve and execveat, the command asked to take the new program over first. Returns only on failure, with -512 when
/// the call is to be begun again.
s64 emulate_exec(Thread* t);

/// Returns only, with restart_counts, when a signal must be delivered first.
s64 emulate_exit(Thread* t, u64 status);
[[noreturn]] void emulate_exit_group(Thread* t, u64 status);

/// ptrace(2), except that who asks to be traced has left the engine.
s64 emulate_ptrace(Thread* t);
/// Whether a thread of this address space has that number.
bool is_in_this_memory(u64 tid);

/// The program goes on natively with the very system call that its thread is about to make.
[[noreturn]] void go_natively(Thread* t, channel::Partial why);

/// Runs the program's system call, remembering that its thread is in the kernel.
/// `mask`: what the program's signal mask is for its time.
s64 run(Thread* t, const u64* mask = nullptr);

}  // namespace tally::engine::guest
