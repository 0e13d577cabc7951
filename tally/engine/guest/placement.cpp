#include "tally/engine/guest/placement.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include "tally/engine/guest/address_space_limits.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/presented_machine.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/entry.hpp"

namespace tally::engine::guest {
namespace {

/// New memory is below all that was placed before. An address is used again if what was placed last is unmapped first.
/// The kernel chooses for what does not fit, and for larger mappings.
constexpr u64 lowest = 0x7f0000000000, most_bytes = 1ull << 36;
u64 next;  // changes under the mappings lock

/// Returns the address of so much new memory, or 0 if the kernel chooses.
u64 take(u64 bytes) {
  if (next == 0 || bytes == 0 || bytes > most_bytes) return 0;
  constexpr u64 step = 16 << 20;
  const u64 size = page_up(bytes);
  u64 at = next - size;
  Guard guard(cache_lock);
  while (at >= lowest && overlaps_arena({at, at + size})) at -= step;
  if (at < lowest) return 0;
  return next = at;
}

/// What was to be at the address that was taken last is not there. If something else is, which the engine does not
/// know, continues below it soon.
void give_back(u64 at, u64 bytes, bool is_free) {
  constexpr u64 step = 64 << 20;
  next = is_free ? at + page_up(bytes) : at - step;
}

/// Makes an mmap for which the kernel chooses. What is placed later is below.
s64 map_anywhere(Thread* t) {
  const s64 r = call_within_limits(t);
  const u64 at = static_cast<u64>(r);
  if (!failed(r) && at >= lowest && at < next) next = at;
  return r;
}

s64 map_placed(Thread* t) {
  u64* const g = t->gpr;
  const u64 flags = g[r10], bytes = g[rsi];
  constexpr u64 other_rules = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_GROWSDOWN | MAP_HUGETLB;
  if (next == 0 || g[rdi] != 0 || (flags & other_rules) != 0) return call_within_limits(t);
  constexpr u32 most_tries = 64;
  for (u32 tries = 0; tries < most_tries; tries++) {
    const u64 at = take(bytes);
    if (at == 0) break;
    // A hint alone is not enough: for 2 MB and more, Linux 6.7 and later wants 2 MB of free memory after it.
    g[rdi] = at;
    g[r10] = flags | MAP_FIXED_NOREPLACE;
    const s64 r = call_within_limits(t);
    g[rdi] = 0;
    g[r10] = flags;
    if (!failed(r)) return r;
    give_back(at, bytes, r != -EEXIST);
    // A file of huge pages has other addresses; MAP_SHARED_VALIDATE does not know the flag.
    if (r == -EINVAL || r == -EOPNOTSUPP) break;
    if (r != -EEXIST) return r;
  }
  return map_anywhere(t);
}

/// Reserves so much memory. Returns its address, or 0.
u64 reserve(u64 bytes) {
  const u64 at = take(bytes);
  if (at == 0) return 0;
  constexpr u64 flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  const s64 r = kernel(SYS_mmap, at, bytes, PROT_NONE, flags, ~u64{0}, 0);
  if (r == static_cast<s64>(at)) return at;
  if (!failed(r)) kernel(SYS_munmap, static_cast<u64>(r), bytes);
  give_back(at, bytes, failed(r) && r != -EEXIST);
  return 0;
}

/// Growing in place, if that is possible, is what the kernel tries first, too.
s64 remap_placed(Thread* t) {
  u64* const g = t->gpr;
  const u64 flags = g[r10], fifth = g[r8], bytes = g[rdx];
  if (next == 0 || flags != MREMAP_MAYMOVE || g[rsi] == 0 || page_up(bytes) <= page_up(g[rsi]))
    return call_within_limits(t);
  g[r10] = 0;
  const s64 in_place = call_within_limits(t);
  g[r10] = flags;
  if (in_place != -ENOMEM) return in_place;
  const u64 at = reserve(bytes);
  if (at == 0) return call_within_limits(t);
  g[r10] = MREMAP_MAYMOVE | MREMAP_FIXED;
  g[r8] = at;
  const s64 moved = call_within_limits(t);
  g[r10] = flags;
  g[r8] = fifth;
  if (!failed(moved)) return moved;
  kernel(SYS_munmap, at, bytes);
  give_back(at, bytes, true);
  return call_within_limits(t);
}

s64 unmap_placed(Thread* t) {
  const s64 r = program_syscall(t);
  if (!failed(r) && t->gpr[rdi] == next) give_back(next, t->gpr[rsi], true);
  return r;
}

}  // namespace

void placement_init() {
  constexpr u64 unknown = 0xffffffff, no_randomization = 0x0040000;
  struct rlimit stack = {};
  if (!machine_is_fixed() || (static_cast<u64>(kernel(SYS_personality, unknown)) & no_randomization) == 0 ||
      kernel(SYS_prlimit64, 0, RLIMIT_STACK, 0, reinterpret_cast<u64>(&stack)) != 0)
    return;
  // The kernel's own rule: a gap of the largest size of the stack, and a guard, below the highest address. For a larger
  // limit it places from below.
  constexpr u64 highest = 0x7ffffffff000, least_gap = 128 << 20, most_gap = highest / 6 * 5, guard = 1 << 20;
  if (stack.rlim_cur > most_gap - guard) return;
  const u64 gap = stack.rlim_cur + guard < least_gap ? least_gap : stack.rlim_cur + guard;
  // The dynamic linker and the vdso are in the megabyte above, in most cases.
  constexpr u64 unit = 1 << 20;
  next = (highest - gap) & ~(unit - 1);
}

s64 call_with_placement(Thread* t) {
  switch (t->gpr[rax]) {
    case SYS_mmap: return map_placed(t);
    case SYS_mremap: return remap_placed(t);
    case SYS_munmap: return unmap_placed(t);
    default: return call_within_limits(t);
  }
}

}  // namespace tally::engine::guest
