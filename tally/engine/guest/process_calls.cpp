#include "tally/engine/guest/process_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "tally/engine/command_requests.hpp"
#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/counted_waits.hpp"
#include "tally/engine/guest/delivery.hpp"
#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/descriptors.hpp"
#include "tally/engine/guest/failing.hpp"
#include "tally/engine/guest/fixed_random.hpp"
#include "tally/engine/guest/giving_way.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/guest_threads.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/output_buffers.hpp"
#include "tally/engine/guest/pmu_processes.hpp"
#include "tally/engine/guest/valgrind_answers.hpp"
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/persist/bundle.hpp"
#include "tally/engine/sharing.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/review.hpp"
#include "tally/engine/translate/watching.hpp"

namespace tally::engine::guest {
namespace {

enum : u64 {
  clone_vm = 0x100,
  clone_files = 0x400,
  clone_sighand = 0x800,
  clone_vfork = 0x4000,
  clone_thread_flag = 0x10000,
  clone_child_cleartid = 0x200000,
  clone_child_settid = 0x1000000,
  clone_settls = 0x80000,
  clone_clear_sighand = 0x100000000
};

s64 begin_process(const Clone& c) {
  if (!c.extended) return kernel(SYS_clone, c.flags | c.exit_signal, 0, c.parent_tid, c.child_tid, c.tls);
  Clone own = c;
  own.stack = own.stack_size = 0;
  return kernel(SYS_clone3, reinterpret_cast<u64>(&own), clone3_bytes);
}

s64 begin_thread(const Clone& c, Thread* child) {
  if (!c.extended) return clone_thread(c.flags | c.exit_signal, c.parent_tid, c.child_tid, c.tls, child);
  Clone own = c;
  own.stack = child->stack - stack_bytes;
  own.stack_size = stack_bytes;
  return clone3_thread(&own, clone3_bytes, child);
}

s64 fork_process(Thread* t, const Clone& c) {
  // No other thread may be in the middle of an operation in the engine, because the child has only this thread.
  const u32 process = before_fork(t);
  fork_random();
  if (process == 0) return -EAGAIN;
  open_outputs(*t);
  lock_mappings(t);
  block_all();  // a signal that is pending afterwards was sent to the parent before, or to the child
  pmu_events_before_fork(t, process);
  lock_tables();
  note_shared_with_others();
  if (c.flags & clone_files) numbers_are_shared();
  const s64 r = copy_vectors(process) ? begin_process(c) : -11;
  unlock_tables();
  if (r != 0) pmu_events_after_fork(t, process, failed(r));
  unlock_mappings();
  if (r != 0) {
    if (r < 0)
      fork_failed(process);
    else
      fork_done(process, static_cast<s32>(r));
    unblock(t);
    return r;
  }
  if (c.stack != 0) t->gpr[rsp] = c.stack + c.stack_size;
  t->cleared_at_end = c.flags & clone_child_cleartid ? c.child_tid : 0;
  t->robust_list = 0;
  if (!after_fork(t, process)) {
    static const char words[] = "tally: a forked process has no memory for counters and ends here\n";
    kernel(SYS_write, 2, reinterpret_cast<u64>(words), sizeof words - 1);
    kernel(SYS_exit_group, 125);
  }
  if (c.clears_actions) clear_actions(t);
  numbers_after_fork(t);
  signals_after_fork(t);
  waits_after_fork();
  requested_calls_after_fork(t);
  forked_random();
  drop_uses();
  pmu_events_of_child(t, process);
  return 0;
}

/// Marks the thread as outside, in the system call whose registers are in `gpr`, and makes the memory writable that the
/// kernel will write. Returns false if that memory is not known.
bool begin_call(Thread* t) {
  __atomic_store_n(&t->in_call, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&records().thread(t->index).in_call, 1, __ATOMIC_RELAXED);
  go_out(t);  // a barrier: a thread that protects a page later sees the call, or this thread sees the page
  return open_outputs(*t);
}

void end_call(Thread* t) {
  __atomic_store_n(&t->in_call, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&records().thread(t->index).in_call, 0, __ATOMIC_RELAXED);
}

/// Releases the locks of a thread that was killed, so that no thread in this memory waits for it.
void release_all_for_dead(const Thread* t) {
  const u32 holder = t->lock_id;
  give_turn_for_dead(holder);
  release_mappings_for_dead(holder);
  cache_lock.release_for_dead(holder);
  release_code_for_dead(holder);
  threads_lock.release_for_dead(holder);
  reserve_lock.release_for_dead(holder);
  llc_lock.release_for_dead(holder);
  release_waits_for_dead(holder);
  release_requested_calls_for_dead(holder);
}

s64 share_memory(Thread* t, const Clone& c) {
  Thread* child = new_thread(t, !(c.flags & clone_thread_flag));
  if (child == nullptr)
    continue_natively(t, mappings_are_used_up() ? channel::partial_mappings : channel::partial_shared_memory);
  pmu_events_before_thread(t, child);
  child->gpr[rax] = 0;
  child->gpr[rcx] = t->pc;
  child->gpr[r11] = t->flags;
  if (c.stack != 0) child->gpr[rsp] = c.stack + c.stack_size;
  child->vfork_child = !(c.flags & clone_thread_flag);
  child->clears_actions = c.clears_actions;
  child->cleared_at_end = c.flags & (clone_child_cleartid | clone_child_settid) ? c.child_tid : 0;
  child->robust_list = child->in_call = 0;
  if (!(c.flags & clone_files)) has_own_numbers(child);
  if (c.flags & clone_vfork) child->alt = t->alt;
  if (!(c.flags & clone_sighand)) {
    // A vfork child ends before its block is reused. Other children may leave their actions to threads of their own.
    // Like all memory, the actions are reserved under a lock that no thread holds while another one forks.
    Guard guard(threads_lock);
    child->actions =
        c.flags & clone_vfork ? own_actions(child) : reinterpret_cast<Actions*>(reserve(sizeof(Actions), read_write));
    copy(child->actions, t->actions, sizeof(Actions));
  }
  if (!(c.flags & clone_thread_flag)) note_memory_shared();
  block_all();
  begin_call(t);  // a vfork takes long
  const s64 r = begin_thread(c, child);
  if (failed(r)) pmu_events_of_failed_thread(child);
  end_call(t);
  unblock(t);
  if (r < 0 || (c.flags & clone_vfork)) {
    // The child has left this memory by execve or exit. It may have been killed before it reported that. If no child
    // was created, none was killed.
    if (r >= 0) {
      release_all_for_dead(child);
      finish_departed(child);
    } else {
      finish_thread(child);
      if (child->vfork_child != 0) process_record(child).vectors = 0;  // those are the parent's
    }
    release_counters(child);
    child->pooled = 1;
    give_back(child);
  }
  come_in(t);
  return r;
}

/// Stops the other threads before an execve, which ends them: their counts are then final. Returns false if there are
/// none, or if other processes use this memory. On success this thread holds the turn to stop others.
bool hold_for_exec(Thread* t) {
  if (t->vfork_child != 0 || is_last(t)) return false;
  take_turn(t);
  bool only_own_threads = !leaving() && hold_others(t);
  {
    Guard guard(threads_lock);
    for (Thread* o = threads(); o != nullptr; o = o->next) only_own_threads &= o->process == t->process;
  }
  if (!only_own_threads) give_turn(t);
  return only_own_threads;
}

/// Whether the kernel would give the new program other privileges than this one has. It would lose those under a
/// tracer.
bool changes_rights(u64 directory, u64 path, u64 flags) {
  struct stat s;
  if (kernel(SYS_newfstatat, directory, path, reinterpret_cast<u64>(&s), flags & AT_EMPTY_PATH) != 0) return false;
  if ((s.st_mode & S_ISUID) && s.st_uid != static_cast<u32>(kernel(SYS_geteuid))) return true;
  if ((s.st_mode & S_ISGID) && (s.st_mode & S_IXGRP) && s.st_gid != static_cast<u32>(kernel(SYS_getegid))) return true;
  if (directory != static_cast<u64>(AT_FDCWD) || (flags & AT_EMPTY_PATH)) return false;
  if (kernel(SYS_geteuid) == 0) return false;
  char capability[64];
  return kernel(SYS_getxattr, path, reinterpret_cast<u64>("security.capability"), reinterpret_cast<u64>(capability),
                sizeof capability) > 0;
}

/// Records the program that will run natively: the file name at the end of `path`.
void name_executed(Thread* t, u64 path) {
  char* name = process_record(t).executed;
  u32 n = 0;
  char c = 0;
  for (u32 i = 0; i < 4096 && get(&c, path + i, 1) == 0 && c != 0; i++) {
    if (c == '/')
      n = 0;
    else if (n < sizeof channel::Process::executed - 1)
      name[n++] = c;
  }
  name[n] = 0;
}

/// Whether only a handler ends the call early: the kernel restarts it after an ignored signal. Calls with a time limit
/// have written the time left.
bool waits_for_handlers(u64 call) {
  switch (call) {
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_select:
    case SYS_pselect6:
    case SYS_ppoll: return true;
    default: return false;
  }
}

}  // namespace

void continue_natively(Thread* t, channel::Partial why) {
  t->pc -= 2;
  correct_unbegun(t);
  leave(t, why);
}

s64 run(Thread* t, const u64* mask) {
  const bool shows = (t->mask & engine_signals) != 0;
  if (t->gpr[rax] == SYS_set_tid_address) t->cleared_at_end = t->gpr[rdi];
  if (t->gpr[rax] == SYS_set_robust_list) t->robust_list = t->gpr[rdi];
  const bool known = begin_call(t);
  if (shows) show_blocked(t);
  if (mask != nullptr) __atomic_store_n(&t->mask, *mask, __ATOMIC_SEQ_CST);
  s64 r = 0;
  do {
    t->woken_in_vain = 0;
    r = program_syscall(t);
  } while (r == -EINTR && (t->woken_in_vain & woken_by_ignored) && waits_for_handlers(t->gpr[rax]) &&
           !awaits_delivery(t));
  end_call(t);
  // It is unknown whether the kernel would have written there natively.
  if (r == -EFAULT && !known && anything_watched()) mark_partial(t, channel::partial_kernel_writes);
  if (shows && mask == nullptr) unblock(t);
  come_in(t);
  return r;
}

s64 emulate_clone(Thread* t, const Clone& c) {
  constexpr u64 new_user_namespace = 0x10000000;
  if (c.flags & new_user_namespace) give_up_writing();
  return c.flags & clone_vm ? share_memory(t, c) : fork_process(t, c);
}

s64 emulate_clone(Thread* t, u64 flags, u64 stack, u64 parent_tid, u64 child_tid, u64 tls) {
  Clone c;
  c.flags = flags & ~u64{0xff};
  c.exit_signal = flags & 0xff;
  c.stack = stack;
  c.parent_tid = parent_tid;
  c.child_tid = child_tid;
  c.tls = tls;
  return emulate_clone(t, c);
}

s64 emulate_clone3(Thread* t, u64 arguments, u64 size) {
  constexpr s64 too_big = -E2BIG, invalid = -EINVAL, fault = -EFAULT;
  if (size > page_bytes) return too_big;
  if (size < 64) return invalid;
  Clone c;
  c.extended = true;
  if (get(&c, arguments, size < clone3_bytes ? size : clone3_bytes) != 0) return fault;
  // Options of later kernels are not passed to this one.
  for (u64 at = clone3_bytes; at < size; at++) {
    u8 more = 0;
    if (get(&more, arguments + at, 1) != 0) return fault;
    if (more != 0) return too_big;
  }
  // The kernel does not see the program's stack.
  if ((c.stack == 0) != (c.stack_size == 0)) return invalid;
  if (c.flags & clone_clear_sighand) {
    if (c.flags & clone_sighand) return invalid;
    // The engine needs its handlers, so it clears the program's actions itself.
    c.flags &= ~clone_clear_sighand;
    c.clears_actions = true;
  }
  return emulate_clone(t, c);
}

s64 emulate_exec(Thread* t) {
  const u64* g = t->gpr;
  const bool at = g[rax] == SYS_execveat;
  const u64 directory = at ? g[rdi] : static_cast<u64>(AT_FDCWD), path = at ? g[rsi] : g[rdi], flags = at ? g[r8] : 0;
  const s64 access = kernel(SYS_faccessat, directory, path, 1);
  // The kernel refuses what cannot be executed: a search along PATH makes many such calls.
  if (access != 0 && !(flags & AT_EMPTY_PATH)) return run(t);
  const bool asks_command = !changes_rights(directory, path, flags);
  const bool holds = hold_for_exec(t);
  pmu_events_before_exec(t);
  end_as(t, channel::End::executed, 0);
  if (t->vfork_child == 0) keep_bundles();
  if (holds) {
    finish_process(t);
  } else {
    finish_for_exec(t);
    go_out(t);  // the command may need some time
  }
  const bool granted = asks_command && ask_command(t, channel::request_take_over);
  if (!granted) {
    pmu_events_before_native_exec(t);
    name_executed(t, path);
    if (settings().strict != 0) end_strictly(t, channel::partial_exec_native);
    mark_partial(t, channel::partial_exec_native);
  }
  if (granted) keep_descriptors_over_exec(true);
  signals_for_exec(t);
  s64 r = 0;
  {
    const ScopedNativeLimits limits(!granted);
    r = program_syscall(t);
  }
  signals_after_failed_exec(t);
  pmu_events_after_failed_exec(t, !granted);
  if (granted) {
    keep_descriptors_over_exec(false);
    asm volatile("int3");  // the command sees it and detaches; no other process sees it
  } else {
    unmark_partial(t, channel::partial_exec_native);
  }
  if (!holds) come_in(t);
  reopen_process(t);
  if (holds) give_turn(t);
  return r;
}

s64 emulate_getppid(Thread* t) {
  const s64 parent = run(t);
  channel::Header& header = records().header();
  if (parent != header.command_pid || kernel(SYS_getpid) == header.first_pid) return parent;
  if (__atomic_load_n(&header.adopter, __ATOMIC_RELAXED) == 0) {
    go_out(t);
    ask_command(t, channel::request_adopter);
    come_in(t);
  }
  const s64 adopter = __atomic_load_n(&header.adopter, __ATOMIC_RELAXED);
  return adopter != 0 ? adopter : parent;
}

s64 emulate_exit(Thread* t, u64 status) {
  if (t->vfork_child == 0 && is_last(t)) emulate_exit_group(t, status);
  block_all();
  if (t->pad & pad_deliver) {
    // The signal would be lost with this thread, so its handler runs first.
    t->kernel_seen = 0;
    return restart_counts;
  }
  if (t->vfork_child != 0) end_as(t, channel::End::exited, static_cast<int>(status & 0xff));
  open_outputs(*t);
  pmu_events_of_thread_end(t);
  finish_thread(t);
  block_everything();  // from here on its stacks may be reused
  release_counters(t);
  if (t->vfork_child != 0) {
    kernel(SYS_exit, status);
    __builtin_trap();
  }
  give_back(t);
  exit_thread(status, &t->pooled);
}

void emulate_exit_group(Thread* t, u64 status) {
  block_all();
  end_as(t, channel::End::exited, static_cast<int>(status & 0xff));
  if (t->vfork_child != 0) {
    pmu_events_of_thread_end(t);
    finish_thread(t);
    kernel(SYS_exit_group, status);
    __builtin_trap();
  }
  stop_others(t);
  pmu_events_of_process_end(t);
  review_at_end(t);
  keep_bundles();
  finish_process(t);
  release_areas(t);
  kernel(SYS_exit_group, status);
  __builtin_trap();
}

extern "C" void thread_started(Thread* t) {
  set_gs(reinterpret_cast<u64>(t));
  use_signal_stack(t);
  if (t->vfork_child != 0) {
    const s64 pid = kernel(SYS_getpid);
    process_record(t).pid = static_cast<s32>(pid);
    t->tgid = kernel(SYS_getppid) != 0 ? pid : 0;  // 0: it starts a pid namespace
    if (t->tgid == 0) note_own_namespace(*t, process_record(t).forked_from);
  }
  t->tid = kernel(SYS_gettid);
  records().thread(t->index).tid = static_cast<s32>(t->tid);
  name_thread(t);
  if (t->clears_actions != 0) clear_actions(t);
  unblock(t);
  come_in(t);
  pmu_events_of_thread(t);
  dispatch(t);
}

}  // namespace tally::engine::guest
