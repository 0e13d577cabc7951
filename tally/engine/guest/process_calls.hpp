/// Process system calls (fork, clone, vfork, execve, exit), emulated so that counting continues in the new program or
/// process.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Emulates clone(2) with these arguments; `stack` 0 means the parent's. Returns the result of the parent's call.
s64 emulate_clone(Thread* t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls);
s64 emulate_clone3(Thread* t, u64 arguments, u64 size);

/// Emulates execve and execveat, after asking the command to take over the new program. Returns only on failure; -512
/// means that the call must be restarted.
s64 emulate_exec(Thread* t);

/// Emulates getppid(2): an orphan sees the process that would have adopted it without the command.
s64 emulate_getppid(Thread* t);

/// Returns only if a signal must be delivered first, with restart_counts.
s64 emulate_exit(Thread* t, u64 status);
[[noreturn]] void emulate_exit_group(Thread* t, u64 status);

/// Continues the program natively with the system call that its thread is about to make.
[[noreturn]] void continue_natively(Thread* t, channel::Partial why);

/// Makes the program's system call and marks the thread as being in the kernel. `mask`: the program's signal mask
/// during the call.
s64 run(Thread* t, const u64* mask = nullptr);

}  // namespace tally::engine::guest
