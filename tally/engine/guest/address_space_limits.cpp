#include "tally/engine/guest/address_space_limits.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include "tally/engine/channel/limits.hpp"
#include "tally/engine/engine_addresses.hpp"
#include "tally/engine/guest/descriptor_numbers.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/memory_calls.hpp"
#include "tally/engine/guest/process_calls.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/code_cache.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/process_maps.hpp"

namespace tally::engine::guest {
namespace {

struct Limit {
  u64 soft, hard;
};

enum : u32 { of_space, of_data, memory_limits };
constexpr u64 resource_of[memory_limits] = {RLIMIT_AS, RLIMIT_DATA};

/// Whether a limit of this process is or was lifted.
bool is_limited;

/// Holds the mappings lock, which a fork holds too: so no child inherits it in the locked state from a thread that does
/// not exist there.
struct ScopedMappingLock {
  explicit ScopedMappingLock(Thread* t) { lock_mappings(t); }
  ~ScopedMappingLock() { unlock_mappings(); }
  ScopedMappingLock(const ScopedMappingLock&) = delete;
  ScopedMappingLock& operator=(const ScopedMappingLock&) = delete;
};

/// While it exists, no other thread maps memory for the engine, or has tight limits.
struct ScopedTables {
  ScopedTables() { lock_tables(); }
  ~ScopedTables() { unlock_tables(); }
  ScopedTables(const ScopedTables&) = delete;
  ScopedTables& operator=(const ScopedTables&) = delete;
};

Limit limit_of_kernel(u32 i) {
  Limit limit{channel::no_limit, channel::no_limit};
  kernel(SYS_prlimit64, 0, resource_of[i], 0, reinterpret_cast<u64>(&limit));
  return limit;
}
void set_limit_of_kernel(u32 i, const Limit& limit) {
  kernel(SYS_prlimit64, 0, resource_of[i], reinterpret_cast<u64>(&limit), 0);
}

/// Bytes that count towards each limit.
struct Sizes {
  u64 own[memory_limits], all[memory_limits];  ///< the engine's, and with the program's
};

/// The engine's part of a mapping.
u64 own_part(const ListedMapping& m, const AddressRange* own, u32 n) {
  u64 bytes = 0;
  for (u32 i = 0; i < n; i++) {
    const u64 start = m.start > own[i].start ? m.start : own[i].start, end = m.end < own[i].end ? m.end : own[i].end;
    bytes += start < end ? end - start : 0;
  }
  return bytes;
}

/// Measures with the kernel's list of mappings. The caller holds the tables.
Sizes measure() {
  AddressRange own[arena_limit + 1];
  u32 n = arena_ranges(own);
  own[n++] = {records_at, own_space_end()};
  Sizes sizes{};
  LARGE static KernelMappings mappings;
  mappings.each([&](const ListedMapping& m) {
    if (m.start >> 63 != 0) return;
    const bool is_stack = m.path_bytes > 1 && m.path[0] == '[' && m.path[1] == 's';
    const bool is_data = m.permissions[1] == 'w' && m.permissions[3] == 'p' && !is_stack;
    const u64 part = own_part(m, own, n);
    for (u32 i = 0; i < memory_limits; i++) {
      if (i == of_data && !is_data) continue;
      sizes.own[i] += part;
      sizes.all[i] += m.end - m.start;
    }
  });
  return sizes;
}

/// The program's limits plus the engine's memory, instead of the lifted ones.
class ScopedTightLimits {
 public:
  explicit ScopedTightLimits(const u64* own) {
    for (u32 i = 0; i < memory_limits; i++) {
      before_[i] = limit_of_kernel(i);
      if (channel::is_lifted(before_[i].soft))
        set_limit_of_kernel(i, {channel::limit_of_program(before_[i].soft) + own[i], before_[i].hard});
    }
  }
  ~ScopedTightLimits() {
    for (u32 i = 0; i < memory_limits; i++)
      if (channel::is_lifted(before_[i].soft)) set_limit_of_kernel(i, before_[i]);
  }
  ScopedTightLimits(const ScopedTightLimits&) = delete;
  ScopedTightLimits& operator=(const ScopedTightLimits&) = delete;

 private:
  Limit before_[memory_limits];
};

bool lacks_memory(const Thread* t, s64 r) {
  return t->gpr[rax] == SYS_brk ? static_cast<u64>(r) < t->gpr[rdi] : r == -ENOMEM;
}

/// How much the call in the thread's registers would add, at most.
u64 bytes_wanted(const Thread* t) {
  const u64* g = t->gpr;
  switch (g[rax]) {
    case SYS_mmap:
    case SYS_mprotect:
    case SYS_pkey_mprotect: return page_up(g[rsi]);
    case SYS_mremap: return page_up(g[rdx]) - page_up(g[rsi]);
    case SYS_brk: return page_up(g[rdi]) - page_up(static_cast<u64>(kernel(SYS_brk, 0)));
    default: return 0;
  }
}

}  // namespace

void limits_init() {
  for (u32 i = 0; i < memory_limits; i++) is_limited |= channel::is_lifted(limit_of_kernel(i).soft);
}

s64 emulate_limit(Thread* t, u64 process, u64 resource, u64 set, u64 old) {
  const bool own = process == 0 || process == static_cast<u64>(kernel(SYS_getpid));
  if (own && resource == RLIMIT_NOFILE && set != 0) {
    const s64 r = run(t);
    if (!failed(r)) number_limit_changed(t);
    return r;
  }
  if (resource != RLIMIT_DATA && resource != RLIMIT_AS) return run(t);
  Limit wanted{}, before{};
  if (set != 0 && get(&wanted, set, sizeof wanted) != 0) return -EFAULT;
  const ScopedMappingLock mapping_lock(t);
  const s64 known = kernel(SYS_prlimit64, process, resource, 0, reinterpret_cast<u64>(&before));
  if (failed(known)) return known;
  if (set != 0) {
    if (wanted.soft > wanted.hard) return -EINVAL;
    // A limit from outside cannot be exceeded. Another process may have no engine.
    if (channel::is_lifted(before.hard) || (own && before.hard == channel::no_limit))
      wanted = {channel::lifted(wanted.soft), channel::lifted(wanted.hard)};
    const s64 r = kernel(SYS_prlimit64, process, resource, reinterpret_cast<u64>(&wanted), 0);
    if (failed(r)) return r;
    is_limited |= own && channel::is_lifted(wanted.soft);
  }
  const Limit shown{channel::limit_of_program(before.soft), channel::limit_of_program(before.hard)};
  return old != 0 && put(old, &shown, sizeof shown) != 0 ? -EFAULT : 0;
}

s64 call_within_limits(Thread* t) {
  if (!is_limited) return program_syscall(t);
  static Sizes sizes;      // the engine has at least so much
  static u64 measured_at;  // its reserved bytes when that was measured
  const ScopedTables tables;
  const u64 reserved = reserved_bytes() + arenas_bytes();
  if (reserved < measured_at) sizes = {};
  for (;;) {
    s64 r = 0;
    {
      const ScopedTightLimits tight(sizes.own);
      r = program_syscall(t);
    }
    if (!lacks_memory(t, r)) return r;
    const Sizes now = measure();
    const bool has_grown = now.own[of_space] > sizes.own[of_space] || now.own[of_data] > sizes.own[of_data];
    sizes = now;
    measured_at = reserved;
    if (!has_grown) return r;
  }
}

bool is_refused_for_own_memory(const Thread* t, s64 r) {
  if (!lacks_memory(t, r)) return false;
  const ScopedTables tables;
  Limit limits[memory_limits];
  bool from_outside = false;
  for (u32 i = 0; i < memory_limits; i++) {
    limits[i] = limit_of_kernel(i);
    from_outside |= limits[i].soft != channel::no_limit && !channel::is_lifted(limits[i].soft);
  }
  if (!from_outside) return false;
  const Sizes sizes = measure();
  const u64 wanted = bytes_wanted(t);
  for (u32 i = 0; i < memory_limits; i++) {
    const u64 of_program = sizes.all[i] - sizes.own[i];
    const u64 rest = limits[i].soft > of_program ? limits[i].soft - of_program : 0;
    if (!channel::is_lifted(limits[i].soft) && wanted <= rest && sizes.all[i] + wanted > limits[i].soft) return true;
  }
  return false;
}

namespace {

/// `own`: what the engine keeps.
void end_lifting(const u64* own) {
  const auto ended = [](u64 limit, u64 own) {
    return channel::is_lifted(limit) ? channel::limit_of_program(limit) + own : limit;
  };
  for (u32 i = 0; i < memory_limits; i++) {
    const Limit before = limit_of_kernel(i);
    if (channel::is_lifted(before.hard) || channel::is_lifted(before.soft))
      set_limit_of_kernel(i, {ended(before.soft, own[i]), ended(before.hard, own[i])});
  }
}

}  // namespace

void end_lifting_natively() {
  constexpr u64 nothing[memory_limits] = {};
  end_lifting(nothing);
}

void end_lifting_with_memory() {
  if (!is_limited) return;
  const ScopedTables tables;
  end_lifting(measure().own);
}

ScopedNativeLimits::ScopedNativeLimits(bool is_native) : is_native_(is_native) {
  if (!is_native_) return;
  for (u32 i = 0; i < memory_limits; i++) {
    const Limit before = limit_of_kernel(i);
    before_[i][0] = before.soft;
    before_[i][1] = before.hard;
  }
  end_lifting_natively();
}

ScopedNativeLimits::~ScopedNativeLimits() {
  if (!is_native_) return;
  for (u32 i = 0; i < memory_limits; i++) set_limit_of_kernel(i, {before_[i][0], before_[i][1]});
}

}  // namespace tally::engine::guest
