// The engine's own address space.
#include <sys/mman.h>

#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/records.hpp"

namespace tally::engine {
namespace {

u64 reserved;               // bytes
u64 next_free = own_space;  // the next address for a mapping of the engine

// The tables of a program with one thread are parts of one mapping: each system call and each mapping would add to the
// start, the forks and the end of a short program.
constexpr u64 first_bytes = 768 << 20;
u64 first_free, first_end;  // the rest of it

/// Maps `bytes` at the next free address. Returns 0 on failure.
u64 map_next(u64 bytes, int protection) {
  for (int tries = 0; tries < 1000; tries++) {
    const u64 at = next_free;
    next_free += bytes + page_bytes;
    const s64 r = kernel(SYS_mmap, at, bytes, static_cast<u64>(protection),
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1ull, 0);
    if (!failed(r) && static_cast<u64>(r) == at) {
      keep_from_core(at, bytes);
      reserved += bytes;
      if (records().base != nullptr) records().process(own_process_number()).own_end = next_free;
      return at;
    }
    if (!failed(r)) kernel(SYS_munmap, static_cast<u64>(r), bytes);
    if (r == -ENOMEM) break;
    next_free += 64ull << 20;
  }
  return 0;
}

/// Ranges for which huge pages were not requested yet.
constexpr u32 later_limit = 32;
struct {
  u64 start, bytes;
} later[later_limit];
u32 later_count;
bool is_large;  // huge pages are requested at once

bool has_started;  // keep_from_core()

void exclude(u64 a, u64 bytes) { kernel(SYS_madvise, a, bytes, MADV_DONTDUMP); }

}  // namespace

Lock reserve_lock;

void keep_from_core(u64 a, u64 bytes) {
  if (has_started) exclude(a, bytes);
}

void keep_start_from_core() {
  has_started = true;
  exclude(records_at, channel::records_bytes);
  exclude(own_space, next_free - own_space);  // skips what is not mapped
}

u64 grow_from(u64 start, u64 end, bool is_temporary) {
  constexpr u64 huge_bytes = 2 << 20, small_bytes = 512 << 10;
  const u64 huge = (start + small_bytes + huge_bytes - 1) & ~(huge_bytes - 1);
  if (huge + huge_bytes > end) return start;
  Guard guard(reserve_lock);
  if (!is_large && !is_temporary && later_count < later_limit) {
    later[later_count] = {huge, end - huge};
    later_count++;
  } else {
    kernel(SYS_madvise, huge, end - huge, MADV_HUGEPAGE);
  }
  return huge - small_bytes;
}

void use_huge_pages() {
  if (is_large) return;
  Guard guard(reserve_lock);
  is_large = true;
  for (; later_count > 0; later_count--)
    kernel(SYS_madvise, later[later_count - 1].start, later[later_count - 1].bytes, MADV_HUGEPAGE);
}

u64 try_reserve(u64 bytes, int protection) {
  bytes = page_up(bytes);
  Guard guard(reserve_lock);
  if (next_free == own_space && !never_overcommits()) {
    first_free = map_next(first_bytes, read_write);
    first_end = first_free != 0 ? first_free + first_bytes : 0;
  }
  if (protection != read_write || bytes + page_bytes > first_end - first_free) return map_next(bytes, protection);
  const u64 at = first_free;
  first_free += bytes + page_bytes;
  return at;
}

bool never_overcommits() { return settings().never_overcommits != 0; }

u64 make_usable(u64 usable, u64 end, u64 limit, int protection) {
  constexpr u64 step = 256 << 10;
  u64 to = page_up(end) + step;
  if (to > limit) to = limit;
  return failed(kernel(SYS_mprotect, usable, to - usable, static_cast<u64>(protection))) ? usable : to;
}

void unreserve(u64 at, u64 bytes) {
  Guard guard(reserve_lock);
  kernel(SYS_munmap, at, page_up(bytes));
  reserved -= page_up(bytes);
}

u64 reserved_bytes() { return reserved; }
u64 own_space_end() { return next_free; }

u64 reserve(u64 bytes, int protection) {
  const u64 at = try_reserve(bytes, protection);
  if (at == 0) die("no memory for the engine, bytes wanted:", bytes);
  return at;
}

void unreserve_all() { kernel(SYS_munmap, own_space, next_free - own_space); }
void unreserve_all_but(u64 at, u64 bytes) {
  kernel(SYS_munmap, own_space, at - own_space);
  kernel(SYS_munmap, at + bytes, next_free - (at + bytes));
}

}  // namespace tally::engine
