/// Transitions between program code and the engine, in assembly. Generated code enters them with jumps.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

extern "C" {
/// Entered from generated code, and never return. entry.cpp describes the registers that each expects.
void enter_link();
void enter_indirect();
/// The target of jump table entries that have no target yet.
extern const char engine_no_target[];
/// The code between these searches the target of an indirect jump. It is generated code for signals, although it is in
/// the image: it has no location at which the program's state is complete, and leads to a trace or into the engine.
extern const char lookup_begin[], lookup_end[];
void enter_syscall();
void enter_far_return();
void enter_emulated();

/// Leaves the engine: loads all of the program's registers and jumps to `resume`, or to the landing pad if `pad` is
/// set. Can restart at any instruction between `resume_begin` and `resume_end`.
[[noreturn]] void resume_program();
extern const char resume_begin[], resume_end[];
/// Leaves the engine for good, without the GS base: loads the program's registers and jumps to its pc. Writes below the
/// red zone.
[[noreturn]] void resume_natively(Thread* t);

/// An `int3` that executes with all of the program's registers loaded, so that the signal frame contains them.
extern const char landing_pad[];

/// Executes the program's system call with the registers in `gpr`. Returns -512 if the call must restart because a
/// signal arrived first (`*pad` set) or interrupted it in a way that restarts it.
s64 program_syscall(Thread* t);
extern const char syscall_begin[], syscall_instruction[], syscall_abort[];

/// Copies n bytes of program memory that may be unmapped. Returns how many could not be read.
u64 safe_copy(void* to, const void* from, u64 n);
extern const char safe_copy_instruction[], safe_copy_end[];

/// Returns 0 if n bytes of program memory, which may be unmapped, equal those at `ours`.
u64 safe_compare(const void* ours, const void* theirs, u64 n);
extern const char safe_compare_differs[];

/// Switches to the thread's engine stack and calls `f(t)`, which does not return.
[[noreturn]] void on_engine_stack(Thread* t, void (*f)(Thread*));

/// The kernel's struct clone_args, and details that the kernel does not get.
struct Clone {
  u64 flags = 0, pidfd = 0, child_tid = 0, parent_tid = 0, exit_signal = 0, stack = 0, stack_size = 0, tls = 0;
  u64 set_tid = 0, set_tid_size = 0, cgroup = 0;
  bool extended = false;  ///< from clone3
  bool clears_actions = false;
};
inline constexpr u64 clone3_bytes = 88;

/// Calls clone(2). The child starts on its engine stack with `child` as its thread; the parent returns.
s64 clone_thread(u64 flags, u64 parent_tid, u64 child_tid, u64 tls, Thread* child);

/// The same by clone3. The stack in the arguments is the child's own.
s64 clone3_thread(const Clone* arguments, u64 size, Thread* child);

/// Ends the calling thread. Does not access memory after it has set `*released`.
[[noreturn]] void exit_thread(u64 status, u32* released);

/// Restores the registers from a signal frame: calls rt_sigreturn with rsp = `frame`. The kernel takes the arithmetic
/// and control flags from the frame; the others, such as the ID flag, keep their values in `flags`.
[[noreturn]] void signal_return(u64 frame, u64 flags);
void signal_restorer();

/// Called from the assembly.
void dispatch(Thread* t);
void system_call(Thread* t);
void far_return(Thread* t);
void emulate(Thread* t);
void thread_started(Thread* t);
}

}  // namespace tally::engine::translate
