// Limits on address space that the program sets for itself. They exclude the engine's own address space.
#include "tally/engine/guest/address_space_limits.hpp"

#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/translate/code_cache.hpp"

namespace tally::engine::guest {
namespace {

struct Limit {
  u64 soft, hard;
};
constexpr u64 data = 2, descriptors = 7, address_space = 9, unlimited = ~0ull;

/// The limit that the program set, and the one that the kernel has for it.
struct Pair {
  bool known;
  Limit program, kernel;
};
Pair pairs[2];

/// Holds the mappings lock, which a fork holds too: so no child inherits it in the locked state from a thread that does
/// not exist there.
struct ScopedMappingLock {
  explicit ScopedMappingLock(Thread* t) { lock_mappings(t); }
  ~ScopedMappingLock() { unlock_mappings(); }
  ScopedMappingLock(const ScopedMappingLock&) = delete;
  ScopedMappingLock& operator=(const ScopedMappingLock&) = delete;
};

Pair& pair_of(u64 resource) { return pairs[resource == data ? 0 : 1]; }

/// Returns the mapped size plus a reserve for what will be mapped: code caches for distant code, threads, growing
/// tables.
u64 own_space_bytes() { return reserved_bytes() + arenas_bytes() + channel::records_bytes + (512ull << 20); }

u64 raised(u64 limit) { return limit > unlimited - own_space_bytes() ? unlimited : limit + own_space_bytes(); }

bool same(const Limit& a, const Limit& b) { return a.soft == b.soft && a.hard == b.hard; }

}  // namespace

s64 emulate_limit(Thread* t, u64 process, u64 resource, u64 set, u64 old) {
  const bool own = process == 0 || process == static_cast<u64>(kernel(SYS_getpid));
  if (own && resource == descriptors && set != 0) {
    const s64 r = run(t);
    if (!failed(r)) number_limit_changed(t);
    return r;
  }
  if (!own || (resource != data && resource != address_space)) return run(t);
  Limit wanted{}, before{};
  if (set != 0 && get(&wanted, set, sizeof wanted) != 0) return -EFAULT;
  const ScopedMappingLock mapping_lock(t);
  Pair& pair = pair_of(resource);
  const s64 known = kernel(SYS_prlimit64, 0, resource, 0, reinterpret_cast<u64>(&before));
  if (failed(known)) return known;
  // Another process may have set it meanwhile.
  const Limit shown = pair.known && same(pair.kernel, before) ? pair.program : before;
  if (set != 0) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    const bool lifted = pair.known || before.hard == unlimited;
    // If the limit came from outside, there is nothing to add to.
    Limit given = lifted ? Limit{raised(wanted.soft), raised(wanted.hard)} : wanted;
    // The addition for one program image must not look like a raised limit.
    if (lifted && wanted.hard <= shown.hard && given.hard > before.hard) given.hard = before.hard;
    if (given.soft > given.hard) given.soft = given.hard;
    const s64 r = kernel(SYS_prlimit64, 0, resource, reinterpret_cast<u64>(&given), 0);
    if (failed(r)) return r;
    pair = {lifted, wanted, given};
  }
  return old != 0 && put(old, &shown, sizeof shown) != 0 ? -14 : 0;
}

}  // namespace tally::engine::guest
