#include "tally/engine/sharing.hpp"

#include "tally/engine/image.hpp"

namespace tally::engine {
namespace {

u64 memory_mark;  // what this memory has, and no other; 0: it is not shared

struct Piece {  // struct iovec
  const void* at;
  u64 bytes;
};

/// Reads the mark in the memory of a thread. The kernel allows it for the caller's own memory, whoever owns the thread,
/// and a thread that has ended has none.
s64 read_mark(s64 tid, u64& to) {
  const Piece here{&to, sizeof to}, there{&memory_mark, sizeof memory_mark};
  return kernel(SYS_process_vm_readv, static_cast<u64>(tid), reinterpret_cast<u64>(&here), 1,
                reinterpret_cast<u64>(&there), 1, 0);
}

}  // namespace

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
  if (t.process == self->process || tid == 0 || tgid == 0 || self->tgid == 0) return false;
  u64 mark = 0;
  const s64 r = read_mark(tid, mark);
  if (r == sizeof mark) return mark != memory_mark;
  if (r == -ESRCH) return true;
  // Another program by now, or a kernel or a filter that has no such call.
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
  nobody.lock_id = 1;  // the first page of own_space: no thread has its block there
  nobody.self = &nobody;
  set_gs(reinterpret_cast<u64>(&nobody));
}

void note_dead_holder() { mark_partial(current(), channel::partial_killed); }

}  // namespace tally::engine
