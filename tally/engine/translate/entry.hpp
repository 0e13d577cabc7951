/// The doors between program code and the engine: written in assembly, entered by jumps.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

extern "C" {
/// From generated code; what each expects in registers stands beside it in entry.cpp. They do not return.
void enter_link();
void enter_indirect();
/// What slots of a jump table lead to that have no target yet.
extern const char engine_no_target[];
void enter_syscall();
void enter_far_return();

/// Leaves the engine: loads all of the program's registers and jumps to `resume`, or to the landing pad when `pad` is
/// set. Restartable at any instruction. `resume_begin` to `resume_end`.
[[noreturn]] void resume_program();
extern const char resume_begin[], resume_end[];
/// For good, without the GS base: loads all of the program's registers and goes on at its pc. Writes below the red
/// zone.
[[noreturn]] void resume_natively(Thread* t);

/// An `int3` reached with all of the program's registers in place: the signal handler then has them in its frame.
extern const char landing_pad[];

/// Executes the program's system call with the registers in `gpr`; -512 when it must be begun again because a signal
/// came first (`*pad` set) or interrupted it in a way that restarts.
s64 program_syscall(Thread* t);
extern const char syscall_begin[], syscall_instruction[], syscall_abort[];

/// Copies n bytes from program memory that may not be there; returns how many could not be read.
u64 safe_copy(void* to, const void* from, u64 n);
extern const char safe_copy_instruction[], safe_copy_end[];

/// 0 when n bytes of program memory, which may not be there, are those at `ours`.
u64 safe_compare(const void* ours, const void* theirs, u64 n);
extern const char safe_compare_differs[];

/// Sets the stack to the thread's own and calls `f(t)`, which does not return.
[[noreturn]] void on_engine_stack(Thread* t, void (*f)(Thread*));

/// struct clone_args as the kernel has it, and what the kernel is not told.
struct Clone {
  u64 flags = 0, pidfd = 0, child_tid = 0, parent_tid = 0, exit_signal = 0, stack = 0, stack_size = 0, tls = 0;
  u64 set_tid = 0, set_tid_size = 0, cgroup = 0;
  bool extended = false;  ///< it came by clone3
  bool clears_actions = false;
};
inline constexpr u64 clone3_bytes = 88;

/// clone(2) whose child starts on its engine stack with `child` as its thread; the parent returns.
s64 clone_thread(u64 flags, u64 parent_tid, u64 child_tid, u64 tls, Thread* child);

/// The same by clone3; the stack in the arguments is the child's own.
s64 clone3_thread(const Clone* arguments, u64 size, Thread* child);

/// Ends the calling thread without touching memory after `*released` was set.
[[noreturn]] void exit_thread(u64 status, u32* released);

/// Restores the registers from a signal frame: rt_sigreturn with rsp = `frame`. The kernel takes the arithmetic and
/// control flags from the frame and leaves the rest, the ID flag, as it is in `flags`.
[[noreturn]] void signal_return(u64 frame, u64 flags);
void signal_restorer();

/// Called from the assembly.
void dispatch(Thread* t);
void system_call(Thread* t);
void far_return(Thread* t);
void thread_started(Thread* t);
}

}  // namespace tally::engine::translate
