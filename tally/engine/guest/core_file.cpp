// Stopped threads are in the engine, or in a system call made by engine code, and the kernel would write those
// addresses to the core file. A thread cannot set its own registers and stay where it is, but a tracer can set those of
// a thread that it stopped. So a process that shares this memory traces the stopped threads until the kernel has
// written the file.
#include "tally/engine/guest/core_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tally/engine/guest/guest_state.hpp"
#include "tally/engine/records.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

enum : u64 {
  clone_vm = 0x100,
  clone_fs = 0x200,
  clone_files = 0x400,
  clone_untraced = 0x800000,
  set_ptracer = 0x59616d61,  // PR_SET_PTRACER
};
constexpr u64 tracer_stack_bytes = 64 << 10;

/// Signals whose default action writes a core file: signal(7).
bool writes_core(int signal) {
  constexpr u64 sigquit = 3, sigabrt = 6, sigfpe = 8, sigxcpu = 24, sigxfsz = 25, sigsys = 31;
  constexpr u64 all = 1u << sigquit | 1u << sigill | 1u << sigtrap | 1u << sigabrt | 1u << sigbus | 1u << sigfpe |
                      1u << sigsegv | 1u << sigxcpu | 1u << sigxfsz | 1u << sigsys;
  return signal < 32 && (all >> signal & 1) != 0;
}

/// core(5): a limit of 0 forbids the file, but not a core_pattern program that the kernel starts instead.
bool is_core_wanted() {
  struct rlimit limit = {};
  if (kernel(SYS_prlimit64, 0, RLIMIT_CORE, 0, reinterpret_cast<u64>(&limit)) == 0 && limit.rlim_cur != 0) return true;
  const s64 file = kernel(SYS_open, reinterpret_cast<u64>("/proc/sys/kernel/core_pattern"), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return false;
  char first = 0;
  kernel(SYS_read, static_cast<u64>(file), reinterpret_cast<u64>(&first), 1);
  kernel(SYS_close, static_cast<u64>(file));
  return first == '|';
}

bool is_shown(const Thread* t, const Thread* o) {
  return o != t && o->process == t->process && o->tid != 0 && __atomic_load_n(&o->where, __ATOMIC_SEQ_CST) == stopped;
}

bool has_others(const Thread* t) {
  Guard guard(threads_lock);
  for (const Thread* o = threads(); o != nullptr; o = o->next)
    if (is_shown(t, o)) return true;
  return false;
}

enum State : u32 { begun, may_trace, traced };
u32 state;  // a futex

void advance_to(State to) {
  __atomic_store_n(&state, to, __ATOMIC_SEQ_CST);
  kernel(SYS_futex, reinterpret_cast<u64>(&state), FUTEX_WAKE, 0x7fffffff);
}

/// Waits for the next state, at most three seconds.
void await_after(State from) {
  for (u32 tries = 0; tries < 30 && __atomic_load_n(&state, __ATOMIC_SEQ_CST) == from; tries++) {
    const u64 tenth[2] = {0, 100000000};
    kernel(SYS_futex, reinterpret_cast<u64>(&state), FUTEX_WAIT, from, reinterpret_cast<u64>(tenth));
  }
}

/// Sets the program's registers in `r`, which the kernel saved.
void set_registers(const Thread* o, user_regs_struct& r) {
  unsigned long long* const registers[16] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rsp, &r.rbp, &r.rsi, &r.rdi,
                                             &r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  // In a system call of the program, rax holds the kernel's result, or will hold it.
  const bool calls = r.rip == reinterpret_cast<u64>(syscall_instruction) + 2;
  for (u32 i = calls ? 1 : 0; i < 16; i++) *registers[i] = o->gpr[i];
  if (calls) {
    r.rcx = o->pc;
    r.r11 = o->flags;
  } else {
    r.orig_rax = ~u64{0};
  }
  r.rip = o->pc;
  r.eflags = o->flags;
  r.gs_base = 0;
}

/// Returns the size of the XSAVE area in a signal frame, without the data that the kernel appends (struct
/// _fpx_sw_bytes).
u64 xsave_bytes(u64 fpstate) {
  constexpr u32 magic_of_extended = 0x46505853;
  return at<u32>(fpstate + 464) == magic_of_extended ? at<u32>(fpstate + 480) : 512;
}

/// Sets the vector registers of a thread that stopped in a handler to those of its signal frame. The kernel expects the
/// full area; components that are missing in the frame are in their initial state, according to its header.
void set_vectors(const Thread* o, u64 tid) {
  if (o->vectors_in_frame == 0) return;
  constexpr u64 enough = 16 << 10;  // with AMX the area has 11008 bytes
  alignas(64) u8 area[enough];
  u64 vector[2] = {reinterpret_cast<u64>(area), enough};
  if (failed(kernel(SYS_ptrace, PTRACE_GETREGSET, tid, NT_X86_XSTATE, reinterpret_cast<u64>(vector)))) {
    kernel(SYS_ptrace, PTRACE_SETFPREGS, tid, 0, o->vectors_in_frame);  // a processor without XSAVE
    return;
  }
  const u64 bytes = xsave_bytes(o->vectors_in_frame);
  if (bytes > vector[1]) return;
  copy(area, reinterpret_cast<const void*>(o->vectors_in_frame), bytes);
  kernel(SYS_ptrace, PTRACE_SETREGSET, tid, NT_X86_XSTATE, reinterpret_cast<u64>(vector));
}

void show(const Thread* o) {
  const u64 tid = static_cast<u64>(o->tid);
  if (failed(kernel(SYS_ptrace, PTRACE_SEIZE, tid, 0, 0))) return;
  kernel(SYS_ptrace, PTRACE_INTERRUPT, tid, 0, 0);
  s32 status = 0;
  if (kernel(SYS_wait4, tid, reinterpret_cast<u64>(&status), __WALL) != o->tid || (status & 0xff) != 0x7f) return;
  user_regs_struct r;
  if (failed(kernel(SYS_ptrace, PTRACE_GETREGS, tid, 0, reinterpret_cast<u64>(&r)))) return;
  set_registers(o, r);
  kernel(SYS_ptrace, PTRACE_SETREGS, tid, 0, reinterpret_cast<u64>(&r));
  set_vectors(o, tid);
}

[[noreturn]] void trace_others(const Thread* t) {
  await_after(begun);
  for (const Thread* o = threads(); o != nullptr; o = o->next)
    if (is_shown(t, o)) show(o);
  advance_to(traced);
  // The tracer must also wait for their end: the kernel reports it to their parent only after that.
  while (kernel(SYS_wait4, ~u64{0}, 0, __WALL) > 0) continue;
  kernel(SYS_exit_group, 0);
  __builtin_trap();
}

/// Starts another process in this memory, because a thread cannot trace threads of its own process.
s64 begin_tracer(const Thread* t, u64 stack_end) {
  u64* const top = reinterpret_cast<u64*>(stack_end) - 2;
  top[0] = reinterpret_cast<u64>(trace_others);
  top[1] = reinterpret_cast<u64>(t);
  s64 result;
  register u64 r10 asm("r10") = 0;
  register u64 r8 asm("r8") = 0;
  asm volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jnz 1f\n"
      "xor %%ebp, %%ebp\n"
      "pop %%rax\n"
      "pop %%rdi\n"
      "call *%%rax\n"
      "ud2\n"
      "1:"
      : "=a"(result)
      : "a"(SYS_clone), "D"(clone_vm | clone_fs | clone_files | clone_untraced), "S"(top), "d"(0), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return result;
}

}  // namespace

void show_in_core_file(const Thread* t, int signal) {
  if (!writes_core(signal) || !has_others(t) || !is_core_wanted()) return;
  const u64 stack = try_reserve(tracer_stack_bytes, read_write);
  if (stack == 0) return;
  keep_from_core(stack, tracer_stack_bytes);
  state = begun;
  const s64 tracer = begin_tracer(t, stack + tracer_stack_bytes);
  if (failed(tracer)) return;
  kernel(SYS_prctl, set_ptracer, static_cast<u64>(tracer));  // Yama may restrict tracing to ancestors
  advance_to(may_trace);
  await_after(may_trace);
}

}  // namespace tally::engine::guest
