#include "tally/engine/guest/memory_calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/giving_way.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/leaving.hpp"
#include "tally/engine/guest/placement.hpp"
#include "tally/engine/guest/presented_maps.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/guest/tracing.hpp"
#include "tally/engine/stop_the_world.hpp"
#include "tally/engine/translate/absent_code.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/mapped_files.hpp"

namespace tally::engine::guest {
namespace {

constexpr u16 sys_process_madvise = 440;

/// Addresses that a system call in progress changes, until the change is noted. If its thread dies, the next holder of
/// the mappings lock reads them.
struct ChangedRange {
  u64 start, bytes;
};
ChangedRange changed[2];

void note_unfinished_call() {
  for (ChangedRange& c : changed) {
    if (c.bytes != 0) note_unknown(c.start, c.bytes);
    c.bytes = 0;
  }
  done_with_addresses();
}

/// Keeps the engine's record of mappings equal to the kernel's: another thread may map an address as soon as one unmaps
/// it. Taken and held outside.
Lock mappings_lock{note_unfinished_call};

/// Records the changes of a call at [a, a + n) and at the addresses in its arguments, until they are noted.
class ScopedChange {
 public:
  ScopedChange(u64 a, u64 n, const AddressRange& named) {
    put(changed[0], a, n);
    put(changed[1], named.start, named.end - named.start);
  }
  ~ScopedChange() {
    put(changed[0], 0, 0);
    put(changed[1], 0, 0);
  }
  ScopedChange(const ScopedChange&) = delete;
  ScopedChange& operator=(const ScopedChange&) = delete;

 private:
  static void put(ChangedRange& to, u64 a, u64 n) {
    __atomic_store_n(&to.bytes, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&to.start, a, __ATOMIC_RELEASE);
    __atomic_store_n(&to.bytes, n, __ATOMIC_RELEASE);
  }
};

void lock_mappings_outside(Thread* t) {
  go_out(t);
  mappings_lock.take();
}

/// Describes a mapping that mmap(2) created, if its bytes may also be at other addresses or may be written through a
/// descriptor. Otherwise returns false.
bool describe(u64 protection, u64 flags, u64 fd, u64 offset, FileMapping& m) {
  m.shared = (flags & MAP_SHARED) != 0;  // MAP_SHARED_VALIDATE has both bits
  if (!m.shared && !(protection & PROT_EXEC)) return false;
  if (flags & MAP_ANONYMOUS) {
    static u64 number;
    m.device = anonymous_device;
    m.inode = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
    return m.shared;  // mremap can create a second mapping
  }
  struct stat s;
  if (kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s)) != 0) return false;
  m.device = s.st_dev;
  m.inode = s.st_ino;
  m.offset = offset;
  m.by_descriptor = (kernel(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  // Programs that this one executes inherit the descriptor, and so did this one if another program has made it.
  m.others = s.st_nlink != 0 || !(kernel(SYS_fcntl, fd, F_GETFD) & FD_CLOEXEC);
  return true;
}

void note_attached(u64 at, u64 id, u64 flags) {
  struct shmid_ds s;
  if (failed(kernel(SYS_shmctl, id, IPC_STAT, reinterpret_cast<u64>(&s)))) return;
  FileMapping m;
  m.device = system_v_device;
  m.inode = id;
  m.shared = m.others = true;
  note_mapping(at, s.shm_segsz, PROT_READ | (flags & SHM_RDONLY ? 0 : PROT_WRITE) | (flags & SHM_EXEC ? PROT_EXEC : 0),
               &m);
}

// --- calls that change code, or whether it may be protected ----------------------------------------------------------
//
// The calls that only write a file or memory are at the end of this file and in syscalls.cpp; docs/design/engine.md
// lists all. Noting a change discards the code that was translated from there.

enum class Before : u8 {
  nothing,
  lift,     // memory that moves, is unmapped, changes in part or becomes sealed must lose the engine's protection first
  suspend,  // the same, and its code may become writable
};
enum class After : u8 { mapped, unmapped, is_protected, moved, attached, detached, other_pages, sealed };

struct MappingCall {
  u16 number;
  Before before;
  After after;
};
constexpr MappingCall mapping_calls[] = {
    {SYS_mmap, Before::nothing, After::mapped},
    {SYS_munmap, Before::lift, After::unmapped},
    {SYS_mprotect, Before::suspend, After::is_protected},
    {SYS_pkey_mprotect, Before::suspend, After::is_protected},
    {SYS_mremap, Before::lift, After::moved},
    {SYS_shmat, Before::nothing, After::attached},
    {SYS_shmdt, Before::nothing, After::detached},
    {SYS_remap_file_pages, Before::lift, After::other_pages},
    {sys_mseal, Before::lift, After::sealed},
};

/// The effect of madvise(2) with an advice on the code in that memory.
enum class Advice : u8 {
  nothing,
  drops,            // its pages become empty or absent, or return
  drops_elsewhere,  // the same, also for these pages of the file at other addresses
  differs_in_child  // in the child of a fork its pages are empty or absent
};
Advice effect_of(u64 advice) {
  switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
    case 24 /* MADV_DONTNEED_LOCKED */:
    case 100 /* MADV_HWPOISON */:
    case 102 /* MADV_GUARD_INSTALL */:
    case 103 /* MADV_GUARD_REMOVE */: return Advice::drops;
    case MADV_REMOVE: return Advice::drops_elsewhere;
    case MADV_DONTFORK:
    case MADV_WIPEONFORK: return Advice::differs_in_child;
    default: return Advice::nothing;
  }
}

void note_advice(u64 a, u64 n, u64 advice) {
  switch (effect_of(advice)) {
    case Advice::nothing: break;
    case Advice::drops: note_discarded_memory(a, n, false); break;
    case Advice::drops_elsewhere: note_discarded_memory(a, n, true); break;
    case Advice::differs_in_child: compare_range(a, n); break;
  }
}

void note_done(const Thread* t, After what, u64 r, u64 n) {
  const u64* g = t->gpr;
  const u64 a = g[rdi], c = g[rdx];
  switch (what) {
    case After::mapped: {
      FileMapping file;
      const bool of_file = describe(c, g[r10], g[r8], g[r9], file);
      return note_mapping(r, n, static_cast<s64>(c), of_file ? &file : nullptr);
    }
    case After::unmapped:
    case After::detached: return note_mapping(a, n, -1);
    case After::is_protected: return note_protection(a, n, static_cast<s64>(c));
    case After::moved: return note_move(a, n, r, c);
    case After::attached: return note_attached(r, a, c);
    case After::other_pages: return note_other_pages(a, n, g[r10] * page_bytes);
    case After::sealed: return;
  }
}

s64 call_and_note(Thread* t) {
  const u64 number = t->gpr[rax], a = t->gpr[rdi];
  const MappingCall* call = mapping_calls;
  while (call->number != number) call++;
  const u64 n = call->after == After::detached ? attached_bytes(a) : t->gpr[rsi];
  const AddressRange named = addresses_wanted(t);
  const ScopedChange change(call->after == After::mapped || call->after == After::attached ? 0 : a, n, named);
  // From here until the change is noted, no thread protects a page there.
  __atomic_store_n(&t->in_call, 1, __ATOMIC_SEQ_CST);
  if (call->before == Before::lift) unwatch_range(a, n);
  if (call->before != Before::suspend && call->after != After::sealed)
    begin_replacing(named.start, named.end - named.start);
  if (call->after == After::moved || call->after == After::detached) begin_replacing(a, n);
  if (call->before == Before::suspend) begin_protecting(a, n);
  const s64 r = call_with_placement(t);
  if (call->after == After::is_protected && r == -ENOMEM) note_protection(a, n, -1);  // a part has changed
  if (!failed(r)) note_done(t, call->after, static_cast<u64>(r), n);
  __atomic_store_n(&t->in_call, 0, __ATOMIC_RELEASE);
  return r;
}

/// Ensures that no thread of the process still executes code that was discarded before.
void bring_all_out_once(Thread* t) {
  take_turn(t);
  if (!leaving()) hold_others(t);
  give_turn(t);
}

/// A descriptor of a /proc/PID/mem file, whatever name it was opened by.
struct MemoryFile {
  bool is_memory_file = false;  // true if /proc cannot be read
  u64 pid = 0;                  // or the number of a thread; 0 if unknown
};

MemoryFile memory_file(u64 fd) {
  struct statfs file_system;
  if (kernel(SYS_fstatfs, fd, reinterpret_cast<u64>(&file_system)) != 0 || file_system.f_type != 0x9fa0) return {};
  char link[32] = "/proc/self/fd/", name[64] = {};
  u32 end = 14;
  u64 unit = 1;
  while (fd / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) link[end++] = static_cast<char>('0' + fd / unit % 10);
  s64 n = kernel(SYS_readlink, reinterpret_cast<u64>(link), reinterpret_cast<u64>(name), sizeof name);
  if (n < 4) return {true, 0};
  MemoryFile file{name[n - 4] == '/' && name[n - 3] == 'm' && name[n - 2] == 'e' && name[n - 1] == 'm', 0};
  unit = 1;
  for (n -= 5; file.is_memory_file && n >= 0 && name[n] >= '0' && name[n] <= '9'; n--, unit *= 10)
    file.pid += static_cast<u64>(name[n] - '0') * unit;
  return file;
}

}  // namespace

namespace {

/// Makes the system call that the thread is about to make by `call`, after freeing the addresses that it needs.
template <class Call>
s64 with_addresses(Thread* t, Call&& call) {
  const AddressRange wanted = addresses_wanted(t);
  if (const s64 refused = refuse_own_addresses(t, wanted); refused != 0) return refused;
  lock_mappings_outside(t);
  while (!are_free(wanted)) {
    unlock_mappings();
    come_in(t);
    free_addresses(t, wanted);
    lock_mappings_outside(t);
  }
  const s64 r = call();
  note_changed_mappings();
  done_with_addresses();
  unlock_mappings();
  come_in(t);
  return r;
}

/// Whether an arena may be where the kernel would have found room.
bool may_be_for_want_of_low_addresses(const Thread* t, s64 r) {
  if (r != -ENOMEM || t->gpr[rax] != SYS_mmap || !(t->gpr[r10] & MAP_32BIT) || (t->gpr[r10] & MAP_FIXED)) return false;
  Guard guard(cache_lock);
  return overlaps_arena(low_addresses);
}

void leave_if_refused_for_own_memory(Thread* t, s64 r) {
  if (t->vfork_child == 0 && is_refused_for_own_memory(t, r)) continue_natively(t, channel::partial_limited_memory);
}

}  // namespace

s64 emulate_mapping(Thread* t) {
  s64 r = with_addresses(t, [t] { return call_and_note(t); });
  if (may_be_for_want_of_low_addresses(t, r)) {
    free_addresses(t, low_addresses);
    r = with_addresses(t, [t] { return call_and_note(t); });
  }
  if (pointers_changed()) bring_all_out_once(t);
  if (r == -ENOMEM && t->vfork_child == 0 && mappings_are_used_up()) continue_natively(t, channel::partial_mappings);
  leave_if_refused_for_own_memory(t, r);
  return r;
}

s64 emulate_break(Thread* t) {
  const s64 r = with_addresses(t, [t] {
    const u64 before = static_cast<u64>(kernel(SYS_brk, 0)), wanted = t->gpr[rdi];
    const ScopedChange change(wanted, wanted < before ? before - wanted : 0, {});
    const s64 r = call_within_limits(t);
    if (!failed(r) && static_cast<u64>(r) < before)
      note_mapping(page_up(static_cast<u64>(r)), before - static_cast<u64>(r), -1);
    return r;
  });
  leave_if_refused_for_own_memory(t, r);
  return r;
}

void lock_mappings(Thread* t) {
  go_out(t);
  mappings_lock.take();
  come_in(t);
}
void unlock_mappings() { mappings_lock.release(); }
void release_mappings_for_dead(u32 holder) { mappings_lock.release_for_dead(holder); }

s64 emulate_on_range(Thread* t) {
  if (names_own_memory(t)) return run_for_unmapped(t);
  const s64 refused = refuse_own_addresses(t, addresses_wanted(t));
  return refused != 0 ? refused : run(t);
}

s64 emulate_madvise(Thread* t) {
  const u64* g = t->gpr;
  const bool is_list = g[rax] == sys_process_madvise;
  if (!is_list && names_own_memory(t)) return run_for_unmapped(t);
  const u64 advice = is_list ? g[r10] : g[rdx], count = is_list ? g[rdx] : 1;
  u64 range[2] = {g[rdi], g[rsi]};  // struct iovec
  const auto read = [&](u64 i) { return !is_list || get(range, g[rsi] + i * sizeof range, sizeof range) == 0; };
  const bool matters = effect_of(advice) != Advice::nothing;
  for (u64 i = 0; (matters || !is_list) && i < count && read(i); i++) {
    const AddressRange pages = page_range(range[0], range[1]);
    if (is_list && meets_own_memory(pages)) {
      if (i > 0) mark_partial(t, channel::partial_own_addresses);  // natively the ranges before take effect
      return -ENOMEM;
    }
    if (const s64 refused = is_list ? 0 : refuse_own_addresses(t, pages); refused != 0) return refused;
    if (matters) free_arenas(t, pages);
    if (effect_of(advice) == Advice::drops) begin_replacing(range[0], range[1]);
  }
  const s64 r = run(t);
  note_changed_mappings();
  // After ENOMEM the advice was applied to the mapped parts.
  if (matters && (!failed(r) || r == -ENOMEM))
    for (u64 i = 0; i < count && read(i); i++) note_advice(range[0], range[1], advice);
  if (pointers_changed()) bring_all_out_once(t);
  return r;
}

s64 emulate_userfaultfd(Thread* t) {
  note_absent_code();
  return run(t);
}

s64 emulate_ioctl(Thread* t) {
  constexpr u64 of_userfaultfd = 0xaa;
  constexpr u64 moves = 0xc028aa05;  // UFFDIO_MOVE: the second word of its structure is the source
  const u64 request = t->gpr[rsi] & 0xffffffff;
  if ((request >> 8 & 0xff) != of_userfaultfd) return run(t);
  note_absent_code();
  const s64 r = run(t);
  u64 move[3];
  if (request == moves && get(move, t->gpr[rdx], sizeof move) == 0) note_discarded_memory(move[1], move[2], false);
  return r;
}

s64 emulate_unseen_writes(Thread* t, s64 (*make)(Thread*)) {
  const bool before = compare_all(true);
  const s64 r = make(t);
  if (failed(r)) compare_all(before);
  return r;
}

void note_descriptors_exchanged() {
  if (files_are_shared_with_others()) return;
  lock_tables();
  note_shared_with_others();
  unlock_tables();
}

s64 emulate_mlockall(Thread* t) {
  const s64 r = run(t);
  // The engine's memory counts towards RLIMIT_MEMLOCK, and may be most of it.
  if (r == -ENOMEM && t->vfork_child == 0) continue_natively(t, channel::partial_locked_memory);
  return r;
}

s64 emulate_membarrier(Thread* t) {
  const s64 r = run(t);
  constexpr u64 private_expedited_sync_core = 1 << 5;
  if (!failed(r) && (t->gpr[rdi] & private_expedited_sync_core)) bring_all_out_once(t);
  return r;
}

s64 emulate_open(Thread* t, u64 flags) {
  const s64 r = run(t);
  if (failed(r) || (flags & O_ACCMODE) == O_RDONLY) return r;
  const bool empties = (flags & O_TRUNC) != 0 && may_be_written();
  // A process that can write /proc/self/mem can write to memory that is otherwise read-only.
  const MemoryFile memory = memory_file(static_cast<u64>(r));
  const bool is_memory = memory.is_memory_file;
  // It belongs to another process, whose engine does not see the writes.
  if (memory.pid != 0 && memory.pid != static_cast<u64>(t->tgid) && !is_in_this_memory(memory.pid))
    make_leave(t, memory.pid);
  struct stat s;
  if ((!empties && !is_memory) || kernel(SYS_fstat, static_cast<u64>(r), reinterpret_cast<u64>(&s)) != 0) return r;
  if (is_memory) note_memory_file(s.st_dev, s.st_ino);
  if (empties) note_written(s.st_dev, s.st_ino);
  return r;
}

s64 emulate_write(Thread* t, u64 fd) {
  const s64 r = run(t);
  if (!may_be_written() || failed(r)) return r;
  struct stat s;
  if (fd == ~u64{0})
    note_written(0, 0);
  else if (kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s)) == 0)
    note_written(s.st_dev, s.st_ino);
  return r;
}

}  // namespace tally::engine::guest
