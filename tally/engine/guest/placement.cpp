#include "tally/engine/guest/placement.hpp"

#include <linux/resource.h>
#include <sys/mman.h>

#include "tally/engine/guest/giving_way.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/presented_machine.hpp"

namespace tally::engine::guest {
namespace {

/// New memory is below all older memory, and nothing is placed in gaps. The kernel chooses for what does not fit, and
/// for larger mappings.
constexpr u64 lowest = 0x7f0000000000, most_bytes = 1ull << 36, unit = 1 << 20;
u64 next;

/// Returns the address of so much new memory, or 0 if the kernel chooses.
u64 take(u64 bytes) {
  if (next == 0 || bytes == 0 || bytes > most_bytes) return 0;
  const u64 size = page_up(bytes);
  u64 before = __atomic_load_n(&next, __ATOMIC_RELAXED), at;
  do {
    at = before - size;
    {
      Guard guard(cache_lock);
      while (at >= lowest && overlaps_arena({at, at + size})) at -= unit;
    }
    if (at < lowest || at > before) return 0;
  } while (!__atomic_compare_exchange_n(&next, &before, at, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return at;
}

/// Something is at `at` that the engine does not know. Continues below it soon.
void pass(u64 at) {
  constexpr u64 step = 64 << 20;
  u64 expected = at;
  __atomic_compare_exchange_n(&next, &expected, at - step, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/// Reserves so much memory. Returns its address, or 0.
u64 reserve(u64 bytes) {
  const u64 at = take(bytes);
  if (at == 0) return 0;
  constexpr u64 flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const s64 r = kernel(SYS_mmap, at, bytes, PROT_NONE, flags, ~u64{0}, 0);
  if (r == static_cast<s64>(at)) return at;
  if (!failed(r)) kernel(SYS_munmap, static_cast<u64>(r), bytes);
  pass(at);
  return 0;
}

}  // namespace

void placement_init() {
  rlimit64 stack{};
  // The kernel's own rule: a gap of the largest size of the stack below the highest address. Without a limit it places
  // from below.
  constexpr u64 highest = 0x7ffffffff000, least_gap = 128 << 20, most_gap = highest / 6 * 5;
  if (!machine_is_fixed() || kernel(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<u64>(&stack)) != 0) return;
  if (stack.rlim_cur > most_gap) return;
  const u64 gap = stack.rlim_cur < least_gap ? least_gap : stack.rlim_cur;
  // The dynamic linker and the vdso are in the megabyte above.
  next = (highest - gap) & ~(unit - 1);
}

s64 map_placed(Thread* t) {
  u64* const g = t->gpr;
  const u64 flags = g[r10];
  constexpr u64 other_rules = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_GROWSDOWN | MAP_HUGETLB;
  constexpr u32 most_tries = 64;
  for (u32 tries = 0; g[rdi] == 0 && (flags & other_rules) == 0 && tries < most_tries; tries++) {
    const u64 at = take(g[rsi]);
    if (at == 0) break;
    // A hint alone is not enough: for 2 MB and more, Linux 6.7 and later wants 2 MB of free memory behind it.
    g[rdi] = at;
    g[r10] = flags | MAP_FIXED_NOREPLACE;
    const s64 r = emulate_mapping(t);
    g[rdi] = 0;
    g[r10] = flags;
    // EINVAL: of a file of huge pages, for example.
    if (r == -EINVAL) break;
    if (r != -EEXIST) return r;
    pass(at);
  }
  return emulate_mapping(t);
}

s64 remap_placed(Thread* t) {
  u64* const g = t->gpr;
  const u64 flags = g[r10], fifth = g[r8];
  if (next == 0 || flags != MREMAP_MAYMOVE || g[rsi] == 0 || page_up(g[rdx]) <= page_up(g[rsi]))
    return emulate_mapping(t);
  g[r10] = 0;
  const s64 in_place = emulate_mapping(t);
  g[r10] = flags;
  if (in_place != -ENOMEM) return in_place;
  const u64 at = reserve(g[rdx]);
  if (at == 0) return emulate_mapping(t);
  g[r10] = MREMAP_MAYMOVE | MREMAP_FIXED;
  g[r8] = at;
  const s64 moved = emulate_mapping(t);
  g[r10] = flags;
  g[r8] = fifth;
  if (!failed(moved)) return moved;
  kernel(SYS_munmap, at, g[rdx]);
  return emulate_mapping(t);
}

}  // namespace tally::engine::guest
