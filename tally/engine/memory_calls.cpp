#include "tally/engine/memory_calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "tally/engine/cache.hpp"
#include "tally/engine/entry.hpp"
#include "tally/engine/files.hpp"
#include "tally/engine/processes.hpp"
#include "tally/engine/signals.hpp"
#include "tally/engine/stops.hpp"

namespace tally::engine {
namespace {

/// What the kernel did and what the engine knows of it are one: an address that one thread unmaps may at once be
/// another thread's. Taken and held outside.
Lock mappings_lock;

/// What mmap(2) mapped, as far as its bytes may be at other addresses too or written through a descriptor. False: not.
bool describe(u64 protection, u64 flags, u64 fd, u64 offset, FileMapping& m) {
  m.shared = (flags & MAP_SHARED) != 0;  // MAP_SHARED_VALIDATE has both bits
  if (!m.shared && !(protection & PROT_EXEC)) return false;
  if (flags & MAP_ANONYMOUS) {
    static u64 number;
    m.device = anonymous_device;
    m.inode = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
    return m.shared;  // mremap can make a second one
  }
  struct stat s;
  if (kernel(SYS_fstat, fd, reinterpret_cast<u64>(&s)) != 0) return false;
  m.device = s.st_dev;
  m.inode = s.st_ino;
  m.offset = offset;
  m.by_descriptor = (kernel(SYS_fcntl, fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
  m.others = s.st_nlink != 0;
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

s64 call_and_note(Thread* t) {
  const u64* g = t->gpr;
  const u64 number = g[rax], a = g[rdi], n = number == SYS_shmdt ? attached_bytes(a) : g[rsi], c = g[rdx];
  // What moves or goes must not keep the engine's protection.
  if (number == SYS_munmap || number == SYS_mremap) unwatch_range(a, n);
  const s64 r = program_syscall(t);
  const bool protects = number == SYS_mprotect || number == SYS_pkey_mprotect;
  if (protects && r == -12) note_protection(a, n, -1);  // some of it has changed
  if (failed(r)) return r;
  switch (number) {
    case SYS_mmap: {
      FileMapping file;
      const bool of_file = describe(c, g[r10], g[r8], g[r9], file);
      note_mapping(static_cast<u64>(r), n, static_cast<s64>(c), of_file ? &file : nullptr);
      break;
    }
    case SYS_munmap:
    case SYS_shmdt: note_mapping(a, n, -1); break;
    case SYS_mremap: note_move(a, n, static_cast<u64>(r), c); break;
    case SYS_shmat: note_attached(static_cast<u64>(r), a, c); break;
    default: note_protection(a, n, static_cast<s64>(c)); break;
  }
  return r;
}

/// Afterwards no thread of the process runs what was dropped before.
void bring_all_out_once(Thread* t) {
  take_floor(t);
  if (!leaving()) hold_others(t);
  give_floor(t);
}

/// Whether it is one of /proc/PID/mem, by whatever name it was opened. Where /proc cannot be asked it may be.
bool is_memory_file(u64 fd) {
  struct statfs file_system;
  if (kernel(SYS_fstatfs, fd, reinterpret_cast<u64>(&file_system)) != 0 || file_system.f_type != 0x9fa0) return false;
  char link[32] = "/proc/self/fd/", name[64] = {};
  u32 end = 14;
  u64 unit = 1;
  while (fd / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) link[end++] = static_cast<char>('0' + fd / unit % 10);
  const s64 n = kernel(SYS_readlink, reinterpret_cast<u64>(link), reinterpret_cast<u64>(name), sizeof name);
  if (n < 4) return true;
  return name[n - 4] == '/' && name[n - 3] == 'm' && name[n - 2] == 'e' && name[n - 1] == 'm';
}

}  // namespace

s64 emulate_mapping(Thread* t) {
  go_out(t);
  mappings_lock.take();
  const s64 r = call_and_note(t);
  mappings_lock.release();
  come_in(t);
  if (pointers_changed()) bring_all_out_once(t);
  return r;
}

void lock_mappings(Thread* t) {
  go_out(t);
  mappings_lock.take();
  come_in(t);
}
void unlock_mappings() { mappings_lock.release(); }

s64 emulate_madvise(Thread* t) {
  const s64 r = run(t);
  const u64 advice = t->gpr[rdx];
  if (!failed(r) && (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE))
    note_thrown_away(t->gpr[rdi], t->gpr[rsi]);
  if (pointers_changed()) bring_all_out_once(t);
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
  // Who can write to /proc/self/mem writes where nobody else may.
  const bool is_memory = is_memory_file(static_cast<u64>(r));
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

}  // namespace tally::engine
