/// The few things that everything in the engine uses: integer names, raw system calls, memory of its own.
///
/// The engine lives inside the measured program, so it has no C library, no thread-local storage and no exceptions,
/// and it never touches a vector register (the program's values are in them).
#pragma once
#include <asm/errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tally/engine/layers.hpp"

namespace tally::engine {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

/// What memory of the engine's own may be used for.
inline constexpr int read_write = PROT_READ | PROT_WRITE, read_write_execute = read_write | PROT_EXEC;

/// A raw system call: the kernel's answer, negative errno on failure.
inline s64 kernel(s64 number, u64 a = 0, u64 b = 0, u64 c = 0, u64 d = 0, u64 e = 0, u64 f = 0) {
  s64 result;
  register u64 r10 asm("r10") = d;
  register u64 r8 asm("r8") = e;
  register u64 r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

inline bool failed(s64 result) { return static_cast<u64>(result) > static_cast<u64>(-4096); }

/// For more than a few bytes: starting a string instruction costs some 10 ns.
inline void copy(void* to, const void* from, u64 n) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}
inline void clear(void* to, u64 n) { asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory"); }

template <class T>
T at(u64 address) {
  return *reinterpret_cast<T*>(address);
}

/// Bits set. The compiler's own would call a library that is not there.
inline u32 bits_set(u64 v) {
  u32 n = 0;
  for (; v != 0; v &= v - 1) n++;
  return n;
}
inline bool fits32(s64 v) { return v == static_cast<s32>(v); }
inline constexpr u64 page_bytes = 4096;
inline constexpr u64 page_down(u64 a) { return a & ~(page_bytes - 1); }
inline constexpr u64 page_up(u64 a) { return page_down(a + page_bytes - 1); }

/// Ends the process with a message on its stderr: only for bugs of the engine itself and for a machine out of memory.
[[noreturn]] void die(const char* what, u64 value);

/// Memory of the engine is no part of the program's core file.
inline void keep_from_core(u64 a, u64 bytes) { kernel(SYS_madvise, a, bytes, MADV_DONTDUMP); }

/// Address space of the engine's own, away from where the kernel places the program's: so that the program's
/// addresses are what they are natively. Never fails (dies when the address space is full).
u64 reserve(u64 bytes, int protection);
/// The same, 0 where there is none.
u64 try_reserve(u64 bytes, int protection);
/// Gives it back.
void unreserve(u64 at, u64 bytes);
/// All of it: the engine has no memory but its image's.
void unreserve_all();
/// How much of it there is by now, and where it ends.
u64 reserved_bytes();
u64 own_space_end();

/// Where in [start, end) memory that is used from the low end up begins: its first half megabyte comes page by page as
/// small programs need it, what follows two megabytes at a time where the kernel has such pages. A page that is touched
/// first costs a virtual machine more than a microsecond.
inline u64 grow_from(u64 start, u64 end) {
  constexpr u64 huge_bytes = 2 << 20, small_bytes = 512 << 10;
  const u64 huge = (start + small_bytes + huge_bytes - 1) & ~(huge_bytes - 1);
  if (huge + huge_bytes > end) return start;
  kernel(SYS_madvise, huge, end - huge, MADV_HUGEPAGE);
  return huge - small_bytes;
}

/// Makes pages that will all be written, or read and written in no order: at once is cheaper than each by a fault, or
/// by two.
inline void populate(const void* at, u64 bytes) {
  const u64 start = reinterpret_cast<u64>(at) & ~(page_bytes - 1);
  kernel(SYS_madvise, start, reinterpret_cast<u64>(at) + bytes - start, MADV_POPULATE_WRITE);
}

/// Gives the memory of the engine's own pages back: they are as when they were mapped. Where the program locked all
/// memory (mlockall) they must be unlocked first.
inline void throw_away(const void* at, u64 bytes) {
  const u64 address = reinterpret_cast<u64>(at);
  constexpr u64 not_needed = 4;  // MADV_DONTNEED
  if (!failed(kernel(SYS_madvise, address, bytes, not_needed))) return;
  kernel(SYS_munlock, address, bytes);
  kernel(SYS_madvise, address, bytes, not_needed);
}

/// An array that only grows, in a reserved range of `limit` elements; memory is used as it is written.
template <class T>
struct Growing {
  T* data = nullptr;
  u32 size = 0, limit = 0;

  void init(u32 n) { place(reserve(bytes_for(n), read_write), n); }
  /// False without memory.
  bool try_init(u32 n) {
    const u64 base = try_reserve(bytes_for(n), read_write);
    if (base != 0) place(base, n);
    return base != 0;
  }
  T& operator[](u32 i) { return data[i]; }
  bool full(u32 more = 1) const { return size + more > limit; }
  /// Gives the memory back; what is left are `n` empty elements.
  void reset(u32 n) {
    throw_away(data, page_up(u64{size} * sizeof(T)));
    size = n;
  }
  /// One more, with what is there: zeros, or what was there before a reset.
  u32 add() { return size++; }
  u32 add(const T& v) {
    data[size] = v;
    return size++;
  }

 private:
  static u64 bytes_for(u32 n) { return page_up(u64{n} * sizeof(T)) + (4 << 20); }
  void place(u64 base, u32 n) {
    data = reinterpret_cast<T*>(grow_from(base, base + bytes_for(n)));
    limit = n;
  }
};

/// Offset of Thread::lock_id from the GS base: who a lock says that it is held by.
inline constexpr u32 lock_id_at = 0x220;
inline u32 own_lock_id() {
  u32 id;
  asm volatile("movl %%gs:%c1, %0" : "=r"(id) : "i"(lock_id_at));
  return id;
}

/// Mutual exclusion of the program's threads inside the engine. Never held while program code runs.
///
/// A process that shares its memory with others may be killed while one of its threads holds a lock, and the others go
/// on. So the word names the holder, and who waits for a dead one takes the lock over and repairs what it protects:
/// docs/design/engine.md, "Processes that share memory".
class Lock {
 public:
  constexpr Lock() = default;
  /// `repair`: makes sound what a dead holder left half changed. Called by the thread that took the lock over.
  constexpr explicit Lock(void (*repair)()) : repair_(repair) {}

  void take() {
    u32 none = 0;
    if (!__atomic_compare_exchange_n(&word_, &none, own_lock_id(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) wait();
  }
  /// Unless somebody holds it; returns whether this thread has it now. Waits for nobody, so any other lock may be held.
  bool try_take() {
    u32 none = 0;
    return __atomic_compare_exchange_n(&word_, &none, own_lock_id(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  void release() {
    if (__atomic_exchange_n(&word_, 0, __ATOMIC_RELEASE) & wanted) wake();
  }
  /// Where the dead thread with this lock_id holds it: repairs and releases it.
  void release_for_dead(u32 holder);

  /// Unless null: who has slept for a lock for two milliseconds calls it, again and again.
  static void (*on_long_wait)(const Lock&);

 private:
  static constexpr u32 wanted = 1u << 31;  // somebody sleeps until it is free
  void wait();
  void wake();
  bool take_over(u32 word, u32 with);

  u32 word_ = 0;  // a futex: 0, or the lock_id of the holder
  void (*repair_)() = nullptr;
};

/// Of reserve() and its like. What it protects is sound at any instruction.
extern Lock reserve_lock;

struct Guard {
  explicit Guard(Lock& l) : lock(l) { lock.take(); }
  ~Guard() { lock.release(); }
  Lock& lock;
};

}  // namespace tally::engine
