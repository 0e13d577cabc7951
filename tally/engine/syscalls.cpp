// System calls of the program. Most go straight to the kernel; here are the few that change what the engine relies on.
#include "tally/channel/asking.hpp"
#include "tally/engine/asking.hpp"
#include "tally/engine/cache.hpp"
#include "tally/engine/descriptors.hpp"
#include "tally/engine/entry.hpp"
#include "tally/engine/improve.hpp"
#include "tally/engine/limits.hpp"
#include "tally/engine/marks.hpp"
#include "tally/engine/memory_calls.hpp"
#include "tally/engine/processes.hpp"
#include "tally/engine/signals.hpp"
#include "tally/engine/store.hpp"

namespace tally::engine {
namespace {

enum : u64 { set_gs_base = 0x1001, get_gs_base = 0x1004 };

/// Runs a call whose argument `reg` points to a signal mask, which counts for its time.
s64 with_mask(Thread* t, u8 reg, u64 size) {
  u64* g = t->gpr;
  const u64 original = g[reg];
  if (original == 0 || size != 8) return run(t);
  if (get(&t->temporary_mask, original, 8) != 0) return -14;
  t->under_temporary = 1;
  g[reg] = reinterpret_cast<u64>(&t->temporary_mask);
  const s64 r = run(t);
  g[reg] = original;
  return r;
}

s64 with_mask_pair(Thread* t) {
  u64* g = t->gpr;
  const u64 original = g[r9];
  if (original == 0) return run(t);
  if (get(t->temporary_pair, original, 16) != 0) return -14;
  if (t->temporary_pair[0] != 0) {
    if (get(&t->temporary_mask, t->temporary_pair[0], 8) != 0) return -14;
    t->under_temporary = 1;
    t->temporary_pair[0] = reinterpret_cast<u64>(&t->temporary_mask);
  }
  g[r9] = reinterpret_cast<u64>(t->temporary_pair);
  const s64 r = run(t);
  g[r9] = original;
  return r;
}

/// The program goes on natively with this very call.
[[noreturn]] void go_natively(Thread* t, channel::Partial why) {
  t->pc -= 2;
  correct_unbegun(t);
  leave(t, why);
}

/// Options of prctl(2) by which a process can do less afterwards.
bool gives_rights_up(u64 option) {
  constexpr u64 drop_capability = 24, set_securebits = 28, no_new_privileges = 38, ambient = 47;
  return option == drop_capability || option == set_securebits || option == no_new_privileges || option == ambient;
}

/// Code of a file that is mapped may hold marks.
s64 map(Thread* t) {
  const s64 r = emulate_mapping(t);
  constexpr u64 executable = 4, anonymous = 0x20;
  if (marks_on() && !failed(r) && t->vfork_child == 0 && (t->gpr[rdx] & executable) && !(t->gpr[r10] & anonymous))
    learn_marks(t);
  return r;
}

s64 call(Thread* t) {
  const u64* g = t->gpr;
  const u64 number = g[rax], a = g[rdi], b = g[rsi], c = g[rdx], d = g[r10];
  if (takes_descriptor(number) && is_own_descriptor(a)) return -9;
  switch (number) {
    case SYS_exit: return emulate_exit(t, a);
    case SYS_exit_group: emulate_exit_group(t, a);
    case SYS_fork: return emulate_clone(t, 17, 0, 0, 0, 0);
    case SYS_vfork: return emulate_clone(t, 0x4111, 0, 0, 0, 0);
    case SYS_clone: return emulate_clone(t, a, b, c, d, g[r8]);
    case SYS_clone3: return emulate_clone3(t, a, b);
    case SYS_execve:
    case SYS_execveat: return emulate_exec(t);
    case SYS_rt_sigaction: return emulate_sigaction(t, a, b, c, d);
    case SYS_rt_sigprocmask: return emulate_sigprocmask(t, a, b, c, d);
    case SYS_sigaltstack: return emulate_sigaltstack(t, a, b);
    case SYS_rt_sigreturn: return emulate_sigreturn(t);
    case SYS_rt_sigsuspend: return with_mask(t, rdi, b);
    case SYS_ppoll: return with_mask(t, r10, g[r8]);
    case SYS_epoll_pwait:
    case 441 /* epoll_pwait2 */: return with_mask(t, r8, g[r9]);
    case SYS_pselect6: return with_mask_pair(t);
    case SYS_mmap: return map(t);
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_mremap:
    case SYS_shmat:
    case SYS_shmdt: return emulate_mapping(t);
    case SYS_madvise: return emulate_madvise(t);
    case SYS_membarrier: return emulate_membarrier(t);
    case SYS_open: return emulate_open(t, a, b);
    case SYS_openat: return emulate_open(t, b, c);
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_sendfile:
    case SYS_ftruncate:
    case SYS_fallocate: return emulate_write(t, a);
    case SYS_splice:
    case SYS_copy_file_range: return emulate_write(t, c);
    case SYS_truncate: return emulate_write(t, ~u64{0});
    // A registration would let the kernel send the thread to an abort handler from the middle of generated code.
    case SYS_rseq: return -38;
    case SYS_arch_prctl:
      if (a == set_gs_base) go_natively(t, channel::partial_gs_base);
      if (a == get_gs_base) {
        const u64 none = 0;
        return put(b, &none, 8);
      }
      return run(t);
    case SYS_seccomp: go_natively(t, channel::partial_confined);
    case SYS_prctl: {
      if (a == 22 /* PR_SET_SECCOMP */) go_natively(t, channel::partial_confined);
      if (a == channel::ask_option) return answer(t, b, c, d);
      if (gives_rights_up(a)) give_up_writing();
      const s64 r = run(t);
      if (a == 15 /* PR_SET_NAME */) name_thread(t);
      return r;
    }
    // Who is trusted less from here on must not write what more trusted programs will execute.
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setfsuid:
    case SYS_setfsgid:
    case SYS_setgroups:
    case SYS_capset:
    case SYS_chroot:
    case SYS_pivot_root:
    case SYS_unshare:
    case SYS_setns:
    case 446 /* landlock_restrict_self */:
    case 460 /* lsm_set_self_attr */: give_up_writing(); return run(t);
    case SYS_prlimit64: return emulate_limit(t, a, b, c, d);
    case SYS_setrlimit: return emulate_limit(t, 0, a, b, 0);
    case SYS_getrlimit: return emulate_limit(t, 0, a, 0, b);
    case SYS_ptrace:
      // Whoever asks to be traced is to be seen as it is. A vfork child lives in its parent's memory, and is about to
      // exec.
      if (a == 0 /* PTRACE_TRACEME */ && t->vfork_child == 0) go_natively(t, channel::partial_ptraced);
      return emulate_ptrace(t);
    case SYS_dup2:
    case SYS_dup3: return is_own_descriptor(b) ? -9 : run(t);
    case SYS_getdents:
    case SYS_getdents64: return list_directory(t, number);
    case SYS_close_range: return close_range_around(a & 0xffffffff, b & 0xffffffff, c);
    default: return run(t);
  }
}

}  // namespace

void correct_unbegun(Thread* t) {
  channel::Totals delta;
  delta.field[channel::instructions] = delta.field[channel::far] = -1;
  correct(t, delta);
}

extern "C" void system_call(Thread* t) {
  u64* g = t->gpr;
  const s64 r = call(t);
  if (r == begin_anew) {
    // To be executed again once the signal's handler has run. If it had not begun, it has not retired either.
    t->pc -= 2;
    if (t->kernel_seen == 0) correct_unbegun(t);
  } else {
    g[rax] = static_cast<u64>(r);
    g[rcx] = t->pc;
    g[r11] = t->flags;
  }
  if (t->traces_itself != 0) t->pad |= pad_step;
  improve_at_times(t);
  dispatch(t);
}

}  // namespace tally::engine
