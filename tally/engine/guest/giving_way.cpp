#include "tally/engine/guest/giving_way.hpp"

#include <sys/mman.h>
#include <sys/shm.h>

#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/flush.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 fixed_flags = MAP_FIXED | MAP_FIXED_NOREPLACE;

/// A program may try one hint after another, and each would discard all of its translations. The kernel may ignore a
/// hint, so the engine ignores hints after this number.
constexpr u32 most_hints = 16;
u32 hints;

AddressRange of_mremap(const u64* g) {
  const u64 old = g[rdi], old_bytes = page_up(g[rsi]), bytes = page_up(g[rdx]);
  if (g[r10] & MREMAP_FIXED) return page_range(g[r8], bytes);
  return bytes > old_bytes ? page_range(old + old_bytes, bytes - old_bytes) : AddressRange{};  // it may grow in place
}

AddressRange of_shmat(const u64* g) {
  struct shmid_ds s;
  if (g[rsi] == 0 || failed(kernel(SYS_shmctl, g[rdi], IPC_STAT, reinterpret_cast<u64>(&s)))) return {};
  return page_range(g[rsi], s.shm_segsz);
}

AddressRange of_brk(u64 wanted) {
  const u64 now = static_cast<u64>(kernel(SYS_brk, 0));
  // The kernel also requires a free page after the break.
  return wanted > now ? page_range(page_up(now), page_up(wanted) + page_bytes - page_up(now)) : AddressRange{};
}

}  // namespace

AddressRange page_range(u64 a, u64 bytes) {
  const u64 start = page_down(a), end = page_up(a + bytes);
  return bytes == 0 || end < start ? AddressRange{} : AddressRange{start, end};
}

AddressRange addresses_wanted(const Thread* t) {
  const u64* g = t->gpr;
  switch (g[rax]) {
    case SYS_mmap:
      if (g[rdi] != 0 && !(g[r10] & fixed_flags) && hints >= most_hints) return {};
      return g[rdi] != 0 || (g[r10] & fixed_flags) ? page_range(g[rdi], g[rsi]) : AddressRange{};
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SYS_remap_file_pages:
    case SYS_mincore:
    case SYS_msync:
    case SYS_mlock:
    case SYS_mlock2:
    case SYS_munlock:
    case sys_mseal: return page_range(g[rdi], g[rsi]);
    case SYS_mremap: return of_mremap(g);
    case SYS_shmat: return of_shmat(g);
    case SYS_brk: return of_brk(g[rdi]);
    default: return {};
  }
}

bool are_free(const AddressRange& s) {
  if (s.is_empty()) return true;
  Guard guard(cache_lock);
  if (overlaps_arena(s)) return false;
  keep_clear_for_now(s);
  return true;
}

void done_with_addresses() {
  Guard guard(cache_lock);
  keep_clear_for_now({});
}

void free_addresses(Thread* t, const AddressRange& s) {
  {
    Guard guard(cache_lock);
    keep_clear(s);
  }
  if (t->gpr[rax] == SYS_mmap && !(t->gpr[r10] & fixed_flags)) hints++;
  if (!flush_until_done(t)) continue_natively(t, channel::partial_not_parked);
}

bool mappings_are_used_up() {
  // The kernel requires one or two free ones, depending on the call.
  constexpr u32 least_free = 4;
  const u32 limit = settings().mapping_limit;
  u32 n = 0;
  lock_code();
  LARGE static KernelMappings mappings;
  mappings.each([&n](const ListedMapping&) { n++; });
  unlock_code();
  return limit != 0 && n + least_free > limit;
}

void free_arenas(Thread* t, const AddressRange& s) {
  if (s.is_empty()) return;
  bool meets_arena;
  {
    Guard guard(cache_lock);
    meets_arena = overlaps_arena(s);
  }
  if (meets_arena) free_addresses(t, s);
}

bool meets_own_memory(const AddressRange& s) {
  return !s.is_empty() && s.meets(records_at, own_space_end() - records_at);
}

bool names_own_memory(const Thread* t) {
  const u64 start = t->gpr[rdi], end = start + t->gpr[rsi];
  const auto is_in = [&](u64 a, u64 n) { return start >= a && start < a + n && end >= start && end <= a + n; };
  return is_in(records_at, channel::records_bytes) || is_in(image_base, image_header().bytes);
}

s64 run_for_unmapped(Thread* t) {
  u64* const g = t->gpr;
  const u64 a = g[rdi], n = g[rsi];
  g[rdi] = page_bytes + a % page_bytes;
  if (n > page_bytes && g[rax] != SYS_mremap) g[rsi] = page_bytes;
  const s64 r = run(t);
  g[rdi] = a;
  g[rsi] = n;
  return r;
}

s64 refuse_own_addresses(Thread* t, const AddressRange& s) {
  const u64* g = t->gpr;
  const u64 number = g[rax];
  const bool is_hint = number == SYS_mmap && !(g[r10] & fixed_flags);
  const bool may_grow = number == SYS_brk || (number == SYS_mremap && !(g[r10] & MREMAP_FIXED));
  // Of 0 bytes, mremap makes a second mapping of shared memory.
  const AddressRange old = number == SYS_mremap ? page_range(g[rdi], g[rsi] != 0 ? g[rsi] : 1) : AddressRange{};
  free_arenas(t, old);
  if (!meets_own_memory(old) && (is_hint || may_grow || !meets_own_memory(s))) return 0;
  if (is_last(t)) continue_natively(t, channel::partial_own_addresses);
  mark_partial(t, channel::partial_own_addresses);
  return meets_own_memory(old) ? -EFAULT : -ENOMEM;
}

}  // namespace tally::engine::guest
