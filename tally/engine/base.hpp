/// Common basics of the engine: integer names, raw system calls, the engine's own memory, locks.
///
/// The engine runs inside the measured program. It has no C library, no thread-local storage and no exceptions, and
/// never touches a vector register because these hold the program's values.
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

/// Protections of the engine's own memory.
inline constexpr int read_write = PROT_READ | PROT_WRITE, read_write_execute = read_write | PROT_EXEC;

/// Makes a raw system call. Returns the kernel's result, negative errno on failure.
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

/// For more than a few bytes: a string instruction takes some 10 ns to start.
inline void copy(void* to, const void* from, u64 n) {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}
inline void clear(void* to, u64 n) { asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory"); }
inline bool is_equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) a++, b++;
  return *a == *b;
}
inline u64 length(const char* text) {
  u64 n = 0;
  while (text[n] != 0) n++;
  return n;
}

template <class T>
T at(u64 address) {
  return *reinterpret_cast<T*>(address);
}

/// The number of bits that are set. The compiler's builtin would call a library that is missing here.
inline u32 bits_set(u64 v) {
  u32 n = 0;
  for (; v != 0; v &= v - 1) n++;
  return n;
}
inline bool fits32(s64 v) { return v == static_cast<s32>(v); }
inline constexpr u64 page_bytes = 4096;
inline constexpr u64 page_down(u64 a) { return a & ~(page_bytes - 1); }
inline constexpr u64 page_up(u64 a) { return page_down(a + page_bytes - 1); }

/// For variables of some kilobytes that most programs never use. The others are next to one another, so that they share
/// few pages: a process writes to most of them when it starts.
#define LARGE [[gnu::section(".lbss")]]

/// Ends the process with a message on its stderr. Only for bugs of the engine and for a machine out of memory.
[[noreturn]] void die(const char* what, u64 value);

/// Excludes the engine's memory from the program's core file: at the end of its start, all that it has, by
/// keep_start_from_core(), and from then on each mapping.
void keep_from_core(u64 a, u64 bytes);
void keep_start_from_core();

/// Reserves address space for the engine, far from where the kernel maps the program's memory, so that the program has
/// the same addresses as natively. Dies if the address space is full.
u64 reserve(u64 bytes, int protection);
/// The same, but returns 0 on failure.
u64 try_reserve(u64 bytes, int protection);
/// Whether the kernel counts memory as used once it is writable (vm.overcommit_memory is 2). Then large reservations
/// must be made with PROT_NONE, and become usable in steps.
bool never_overcommits();
/// Makes memory from `usable` to at least `end` usable, but not beyond `limit`. Returns the new end; `usable` on
/// failure.
u64 make_usable(u64 usable, u64 end, u64 limit, int protection);
/// Unmaps memory from reserve().
void unreserve(u64 at, u64 bytes);
/// Unmaps all of it. Afterwards the engine has only its image.
void unreserve_all();
/// Unmaps all of it except `bytes` from `at` on.
void unreserve_all_but(u64 at, u64 bytes);
/// The number of bytes reserved so far, and the end of this address space.
u64 reserved_bytes();
u64 own_space_end();

/// Returns the best first address in [start, end) for memory that is used from the low end up. Its first half megabyte
/// is mapped page by page, as small programs need it, and the rest two megabytes at a time if the kernel has such
/// pages. The first access to a page costs a virtual machine more than a microsecond.
/// `is_temporary`: it will be returned, so the kernel is asked at once.
u64 grow_from(u64 start, u64 end, bool is_temporary = false);
/// The kernel is asked for these pages only once the program has `large_program` traces, or releases memory: each
/// request divides a mapping, and a short program needs none.
void use_huge_pages();
inline constexpr u32 large_program = 2048;

/// Maps pages that will all be written, or accessed in random order: cheaper than one or two faults for each page.
inline void populate(const void* at, u64 bytes) {
  const u64 start = reinterpret_cast<u64>(at) & ~(page_bytes - 1);
  kernel(SYS_madvise, start, reinterpret_cast<u64>(at) + bytes - start, MADV_POPULATE_WRITE);
}

/// Returns pages of the engine to the kernel; they read as newly mapped. Unlocks them first if mlockall locked them.
inline void discard_pages(const void* at, u64 bytes) {
  const u64 address = reinterpret_cast<u64>(at);
  constexpr u64 not_needed = 4;  // MADV_DONTNEED
  if (!failed(kernel(SYS_madvise, address, bytes, not_needed))) return;
  kernel(SYS_munlock, address, bytes);
  kernel(SYS_madvise, address, bytes, not_needed);
}

/// Returns how many of the numbers below `n` are before a limit, which `is_before(number)` finds: all smaller ones are.
template <class IsBefore>
u32 numbers_before(u32 n, IsBefore&& is_before) {
  u32 low = 0;
  while (low < n) {
    const u32 middle = low + (n - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      n = middle;
  }
  return low;
}

/// An array in a reserved range of `limit` elements. It only grows; memory is used when it is first written.
template <class T>
struct Growing {
  T* data = nullptr;
  u32 size = 0, limit = 0;

  void init(u32 n) { place(reserve(bytes_for(n), read_write), n); }
  /// For an array whose elements are only accessed once they were added, after full() has said that there is room.
  /// Returns false if no memory is available.
  bool try_init_in_steps(u32 n) {
    const u64 base = try_reserve(bytes_for(n), never_overcommits() ? PROT_NONE : read_write);
    if (base == 0) return false;
    place(base, n);
    if (never_overcommits()) usable_ = 0;
    return !full();
  }
  void init_in_steps(u32 n) {
    if (!try_init_in_steps(n)) die("no memory for the engine, elements wanted:", n);
  }
  T& operator[](u32 i) { return data[i]; }
  bool full(u32 more = 1) const { return size + more > limit || (size + more > usable_ && !extend(size + more)); }
  /// Returns the memory to the kernel and keeps `n` empty elements.
  void reset(u32 n) {
    discard_pages(data, page_up(u64{size} * sizeof(T)));
    size = n;
  }
  /// Maps the memory of the next `n` elements, which will all be added.
  void populate_next(u32 n) { populate(data + size, u64{n} * sizeof(T)); }
  /// Appends an element without writing it: it contains zeros, or the values from before a reset.
  u32 add() { return size++; }
  u32 add(const T& v) {
    data[size] = v;
    return size++;
  }

 private:
  static u64 bytes_for(u32 n) { return page_up(u64{n} * sizeof(T)) + (4 << 20); }
  void place(u64 base, u32 n) {
    data = reinterpret_cast<T*>(grow_from(base, base + bytes_for(n)));
    limit = usable_ = n;
  }
  /// Makes `n` elements usable.
  bool extend(u32 n) const {
    const u64 start = reinterpret_cast<u64>(data);
    const u64 usable = page_down(start + u64{usable_} * sizeof(T)), end = start + u64{n} * sizeof(T);
    const u64 extended = make_usable(usable, end, page_up(start + u64{limit} * sizeof(T)), read_write);
    if (extended == usable) return false;
    const u64 elements = (extended - start) / sizeof(T);
    usable_ = elements < limit ? static_cast<u32>(elements) : limit;
    return true;
  }

  mutable u32 usable_ = 0;
};

/// Offset of Thread::lock_id from the GS base. A lock stores the lock_id of its holder.
inline constexpr u32 lock_id_at = 0x220;
inline u32 own_lock_id() {
  u32 id;
  asm volatile("movl %%gs:%c1, %0" : "=r"(id) : "i"(lock_id_at));
  return id;
}

/// Mutual exclusion between the program's threads inside the engine. Never held while program code runs.
///
/// A process that shares its memory with others may be killed while one of its threads holds a lock, and the others
/// continue. Therefore the word names the holder. A thread that waits for a dead holder takes the lock over and repairs
/// the protected data: docs/design/engine.md, "Processes that share memory".
class Lock {
 public:
  constexpr Lock() = default;
  /// `repair` makes data consistent that a dead holder left half changed. The thread that takes the lock over calls it.
  constexpr explicit Lock(void (*repair)()) : repair_(repair) {}

  void take() {
    u32 none = 0;
    if (!__atomic_compare_exchange_n(&word_, &none, own_lock_id(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) wait();
  }
  /// Takes the lock if it is free, and returns whether it did. Never waits, so any other lock may be held.
  bool try_take() {
    u32 none = 0;
    return __atomic_compare_exchange_n(&word_, &none, own_lock_id(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
  }
  void release() {
    if (__atomic_exchange_n(&word_, 0, __ATOMIC_RELEASE) & wanted) wake();
  }
  /// Repairs and releases the lock if the dead thread with this lock_id holds it.
  void release_for_dead(u32 holder);

  /// Unless null, a thread that has waited two milliseconds for a lock calls this function, every two milliseconds.
  static void (*on_long_wait)(const Lock&);

 private:
  static constexpr u32 wanted = 1u << 31;  // set while a thread sleeps until the lock is free
  void wait();
  void wake();
  bool take_over(u32 word, u32 with);

  u32 word_ = 0;  // a futex: 0, or the lock_id of the holder
  void (*repair_)() = nullptr;
};

/// The lock of reserve() and related functions. The data that it protects is consistent at any instruction.
extern Lock reserve_lock;

struct Guard {
  explicit Guard(Lock& l) : lock(l) { lock.take(); }
  ~Guard() { lock.release(); }
  Lock& lock;
};

}  // namespace tally::engine
