// Limits on address space that the program sets for itself: the engine's own is not the program's.
#include "tally/engine/guest/limits.hpp"

#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/processes.hpp"
#include "tally/engine/guest/signals.hpp"
#include "tally/engine/translate/cache.hpp"

namespace tally::engine::guest {
namespace {

struct Limit {
  u64 soft, hard;
};
constexpr u64 data = 2, descriptors = 7, address_space = 9, unlimited = ~0ull;

/// What the program set, and what the kernel has for it.
struct Pair {
  bool known;
  Limit program, kernel;
};
Pair pairs[2];

/// The lock of mappings, which a fork holds: no child finds it taken by a thread that it does not have.
struct Alone {
  explicit Alone(Thread* t) { lock_mappings(t); }
  ~Alone() { unlock_mappings(); }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

Pair& pair_of(u64 resource) { return pairs[resource == data ? 0 : 1]; }

/// What is mapped, and room for what will be: caches for code that is far from all other, threads, tables that grow.
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
  const Alone alone(t);
  Pair& pair = pair_of(resource);
  const s64 known = kernel(SYS_prlimit64, 0, resource, 0, reinterpret_cast<u64>(&before));
  if (failed(known)) return known;
  // Somebody else may have set it meanwhile.
  const Limit shown = pair.known && same(pair.kernel, before) ? pair.program : before;
  if (set != 0) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    const bool lifted = pair.known || before.hard == unlimited;
    // Where the limit came from outside there is nothing to add to.
    Limit given = lifted ? Limit{raised(wanted.soft), raised(wanted.hard)} : wanted;
    // What was added for one program image must not look like a limit that is being raised.
    if (lifted && wanted.hard <= shown.hard && given.hard > before.hard) given.hard = before.hard;
    if (given.soft > given.hard) given.soft = given.hard;
    const s64 r = kernel(SYS_prlimit64, 0, resource, reinterpret_cast<u64>(&given), 0);
    if (failed(r)) return r;
    pair = {lifted, wanted, given};
  }
  return old != 0 && put(old, &shown, sizeof shown) != 0 ? -14 : 0;
}

}  // namespace tally::engine::guest
