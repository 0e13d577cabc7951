#include "tally/engine/guest/tracing.hpp"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

enum : u64 { get_registers = 12, get_register_set = 0x4204, general_registers = 1 /* NT_PRSTATUS */ };
enum : u64 { set_syscall_dispatch = 0x4210, set_syscall_info = 0x4212 };

/// Whether a request only reads, starts and stops. The others change what the engine assumes about the other program.
bool only_reads(u64 request) {
  switch (request) {
    case PTRACE_PEEKTEXT:
    case PTRACE_PEEKDATA:
    case PTRACE_PEEKUSER:
    case PTRACE_CONT:
    case PTRACE_KILL:
    case PTRACE_GETREGS:
    case PTRACE_GETFPREGS:
    case PTRACE_ATTACH:
    case PTRACE_DETACH:
    case PTRACE_SYSCALL: return true;
    case PTRACE_SETREGSET:
    case PTRACE_SETSIGINFO:
    case PTRACE_SETSIGMASK:
    case set_syscall_dispatch:
    case set_syscall_info: return false;
    default: return request >= 0x4200;
  }
}

/// Returns a thread of the same address space. LeakSanitizer, for example, traces it from a child that shares its
/// memory.
Thread* in_this_memory(u64 tid) {
  Guard guard(threads_lock);
  for (Thread* o = threads(); o != nullptr; o = o->next)
    if (o->tid == static_cast<s64>(tid)) return o;
  return nullptr;
}

/// Waits until the thread has stopped for its tracer. A request from the engine to leave may arrive first; it is of no
/// use any more.
void wait_for_stop(u64 tid) {
  for (;;) {
    struct {
      s32 signal, error, code;
      s32 pad[3], status;
      u8 rest[100];
    } info{};
    kernel(SYS_waitid, P_PID, tid, reinterpret_cast<u64>(&info), WSTOPPED | WNOWAIT | __WALL);
    if (info.status != request_signal) return;
    kernel(SYS_wait4, tid, 0, WSTOPPED | __WALL);
    kernel(SYS_ptrace, PTRACE_CONT, tid, 0, 0);
  }
}

/// Attaches to a thread when it holds no engine lock, because it would keep the lock while it is traced. A thread that
/// was held has none, except those of a system call that changes mappings.
s64 attach(Thread* t, u64 tid) {
  lock_mappings(t);
  take_turn(t);
  hold_others(t);
  lock_tables();
  const s64 r = kernel(SYS_ptrace, PTRACE_ATTACH, tid);
  if (r == 0) wait_for_stop(tid);
  unlock_tables();
  give_turn(t);
  unlock_mappings();
  return r;
}

/// Replaces the engine's registers, which the kernel shows for a thread that stopped in the engine, with the program's.
s64 show_registers(const Thread* of, u64 to) {
  user_regs_struct r;
  if (get(&r, to, sizeof r) != 0) return -EFAULT;
  unsigned long long* const registers[16] = {&r.rax, &r.rcx, &r.rdx, &r.rbx, &r.rsp, &r.rbp, &r.rsi, &r.rdi,
                                             &r.r8,  &r.r9,  &r.r10, &r.r11, &r.r12, &r.r13, &r.r14, &r.r15};
  for (u32 i = 0; i < 16; i++) *registers[i] = of->gpr[i];
  r.rip = of->pc;
  r.eflags = of->flags;
  r.gs_base = 0;
  return put(to, &r, sizeof r);
}

/// Begins to trace a process of the tree, which leaves the engine first, or now if it is stopped.
s64 trace_other(Thread* t, u64 tid, bool seizes) {
  const u32 stopped = make_leave(t, tid, true);
  if (stopped == 0) return run(t);
  block_all();  // the program learns of the last stop only
  go_out(t);
  const u64* g = t->gpr;
  const s64 r = kernel(SYS_ptrace, g[rdi], tid, g[rdx], g[r10]);
  if (r == 0) lead_out(stopped, tid, seizes);
  come_in(t);
  unblock(t);
  return r;
}

}  // namespace

bool is_in_this_memory(u64 tid) { return in_this_memory(tid) != nullptr; }

s64 emulate_ptrace(Thread* t) {
  const u64 request = t->gpr[rdi], tid = t->gpr[rsi], address = t->gpr[rdx], data = t->gpr[r10];
  if (!only_reads(request)) mark_partial(t, channel::partial_ptraced);
  Thread* other = in_this_memory(tid);
  if (other == nullptr && (request == PTRACE_ATTACH || request == PTRACE_SEIZE))
    return trace_other(t, tid, request == PTRACE_SEIZE);
  if (other == nullptr || other == t) return run(t);
  if (request == PTRACE_ATTACH) return attach(t, tid);
  const s64 r = run(t);
  if (failed(r) || other->where == inside) return r;
  if (request == get_registers) return show_registers(other, data);
  if (request != get_register_set || address != general_registers) return r;
  u64 vector[2];  // struct iovec
  if (get(vector, data, sizeof vector) != 0) return -EFAULT;
  return vector[1] < sizeof(user_regs_struct) ? r : show_registers(other, vector[0]);
}

}  // namespace tally::engine::guest
