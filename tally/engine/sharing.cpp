#include "tally/engine/sharing.hpp"

#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/inherited.hpp"

namespace tally::engine {
namespace {

u64 memory_mark;  // a value that identifies this memory; 0: it is not shared

struct IoVector {  // struct iovec
  const void* at;
  u64 bytes;
};

/// Reads the mark in the memory of a thread. The kernel allows this for the caller's own memory, whoever owns the
/// thread. It fails for a thread that has ended.
s64 read_mark(s64 tid, u64& to) {
  const IoVector local{&to, sizeof to}, remote{&memory_mark, sizeof memory_mark};
  return kernel(SYS_process_vm_readv, static_cast<u64>(tid), reinterpret_cast<u64>(&local), 1,
                reinterpret_cast<u64>(&remote), 1, 0);
}

/// Returns the number of the calling process's parent in the pid namespace of the command's /proc, or 0 if unreadable.
u32 parent_outside() {
  char text[512];
  const s64 fd = open_own("self/stat");
  if (failed(fd)) return 0;
  const s64 n = kernel(SYS_read, static_cast<u64>(fd), reinterpret_cast<u64>(text), sizeof text);
  kernel(SYS_close, static_cast<u64>(fd));
  s64 at = n;
  while (at > 0 && text[at - 1] != ')') at--;  // the name may contain anything
  at += 3;                                     // " S "
  u32 number = 0;
  for (; at > 3 && at < n && text[at] >= '0' && text[at] <= '9'; at++)
    number = number * 10 + static_cast<u32>(text[at] - '0');
  return number;
}

/// Whether `t` belongs to the parent of the process that started this pid namespace, and that parent has ended.
bool has_died_with_maker(const Thread& self, const Thread& t) {
  if (self.maker == 0 || t.process != self.maker || self.maker_outside == 0) return false;
  const u32 now = parent_outside();
  return now != 0 && now != self.maker_outside;
}

}  // namespace

void note_own_namespace(Thread& t, u32 maker) {
  t.maker = maker;
  t.maker_outside = parent_outside();
}

bool memory_is_shared() { return __atomic_load_n(&memory_mark, __ATOMIC_RELAXED) != 0; }

void note_memory_shared() {
  if (memory_is_shared()) return;
  u64 now[2] = {};
  kernel(SYS_clock_gettime, 1 /* CLOCK_MONOTONIC */, reinterpret_cast<u64>(now));
  const u64 mark = (now[0] * 1'000'000'000 + now[1]) << 16 | static_cast<u64>(kernel(SYS_getpid) & 0xffff);
  u64 none = 0;
  __atomic_compare_exchange_n(&memory_mark, &none, mark | 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void sharing_after_fork() { memory_mark = 0; }

bool has_died(const Thread& t) {
  const Thread* const self = current();
  const s64 tid = __atomic_load_n(&t.tid, __ATOMIC_RELAXED), tgid = __atomic_load_n(&t.tgid, __ATOMIC_RELAXED);
  if (t.process == self->process) return false;
  if (self->tgid == 0) return has_died_with_maker(*self, t);
  if (tid == 0 || tgid == 0) return false;
  u64 mark = 0;
  const s64 r = read_mark(tid, mark);
  if (r == sizeof mark) return mark != memory_mark;
  if (r == -ESRCH) return true;
  // The thread may execute another program by now, or the kernel or a seccomp filter does not allow the call.
  if (read_mark(self->tid, mark) == sizeof mark) return true;
  return kernel(SYS_tgkill, static_cast<u64>(tgid), static_cast<u64>(tid), 0) == -ESRCH;
}

bool has_died(u32 lock_id) {
  return lock_id != 0 && has_died(*reinterpret_cast<const Thread*>(own_space + u64{lock_id - 1} * page_bytes));
}

void name_for_locks(Thread& t) {
  t.lock_id = static_cast<u32>((reinterpret_cast<u64>(&t) - own_space) / page_bytes + 1);
}

void begin_without_thread() {
  static Thread nobody;
  nobody.lock_id = 1;  // the first page of own_space, which is no thread's block
  nobody.self = &nobody;
  set_gs(reinterpret_cast<u64>(&nobody));
}

void note_dead_holder() { mark_partial(current(), channel::partial_killed); }

}  // namespace tally::engine
