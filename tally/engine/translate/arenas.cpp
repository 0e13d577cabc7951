#include "tally/engine/translate/arenas.hpp"

#include "tally/engine/translate/compared_code.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/protection_keys.hpp"
#include "tally/engine/translate/source_probes.hpp"

namespace tally::engine::translate {
namespace {

Arena arenas[arena_limit];
u32 arena_count;

/// Ranges that the program requested. When the list is full, ranges are merged: avoiding too much does no harm.
constexpr u32 kept_clear_limit = 64;
AddressRange kept_clear[kept_clear_limit];
u32 kept_clear_count;
AddressRange requested_now;

/// Gigabytes of code that had no room nearby.
constexpr u32 crowded_limit = 8;
u64 crowded[crowded_limit];
u32 crowded_count;

/// Programs linked to fixed addresses are below this, and can address everything below it.
constexpr u64 low_end = 0x80000000;

u64 gigabyte_of(u64 pc) { return (pc >> 30) + 1; }  // no entry is 0

bool is_crowded(u64 pc) {
  for (const u64 one : crowded)
    if (one == gigabyte_of(pc)) return true;
  return false;
}

/// Within reach of a 32-bit displacement, with a margin for the size of the program's own code and data.
bool reaches(u64 cache, u64 pc) {
  if (pc < low_end && cache + arena_bytes <= low_end) return true;
  const s64 d = static_cast<s64>(cache - pc);
  return d > -(1700ll << 20) && d < (1500ll << 20);
}

bool is_kept_clear(u64 at) {
  for (u32 i = 0; i < kept_clear_count; i++)
    if (kept_clear[i].meets(at, arena_bytes)) return true;
  return requested_now.meets(at, arena_bytes);
}

int first_protection() { return never_overcommits() ? PROT_NONE : read_write_execute; }

/// Returns 0 if the arena cannot be there.
u64 map_at(u64 at) {
  if (is_kept_clear(at)) return 0;
  const s64 r = kernel(SYS_mmap, at, arena_bytes, static_cast<u64>(first_protection()),
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1ull, 0);
  if (failed(r)) return 0;
  if (static_cast<u64>(r) == at) {
    keep_from_core(at, arena_bytes);
    return at;
  }
  kernel(SYS_munmap, r, arena_bytes);
  return 0;
}

u64 map_near(u64 pc) {
  if (pc < low_end) {
    // As high as possible: the break grows from below, and the kernel searches for 32-bit addresses from below.
    constexpr u64 lowest = 0x40000000;
    for (u64 at = low_end - arena_bytes; at >= lowest; at -= arena_bytes)
      if (const u64 base = map_at(at); base != 0) return base;
    return 0;
  }
  // Prefer addresses below the code, because the break and later libraries grow towards it from the other side.
  static const s16 distances[] = {-1280, -1024, -768, -512, -384, -256, 256, 512, 768, 1024, 1280};
  for (const s16 mb : distances)
    if (const u64 base = map_at((pc & ~0xfffffull) + (static_cast<u64>(static_cast<s64>(mb)) << 20)); base != 0)
      return base;
  return 0;
}

/// Reports the arena to the command, which attributes its page faults to the engine, also after the arena is released.
void report_near_cache(u64 base) {
  for (uint32_t& near_cache : records().process(own_process_number()).near_caches) {
    if (near_cache == base >> 20) return;
    if (near_cache != 0) continue;
    near_cache = static_cast<uint32_t>(base >> 20);
    return;
  }
}

/// Unmaps the arena.
void release(Arena& a) {
  use_huge_pages();  // not later, when the addresses may be the program's
  // A thread that is killed here leaks an arena. The alternative could unmap addresses that the program uses by then.
  const u64 base = __atomic_exchange_n(&a.base, 0, __ATOMIC_SEQ_CST);
  if (base != 0 && a.far)
    unreserve(base, arena_bytes);
  else if (base != 0)
    kernel(SYS_munmap, base, arena_bytes);
}

/// Initializes the next free arena, which `map` maps. Returns null if that fails.
template <class Map>
Arena* new_arena(bool far, Map&& map) {
  if (arena_count == arena_limit) return nullptr;
  Arena& a = arenas[arena_count];
  if (a.traces.data == nullptr && !a.traces.try_init_in_steps(1u << 20)) return nullptr;
  a.base = map();
  if (a.base == 0) return nullptr;
  a.far = far;
  if (!far) report_near_cache(a.base);
  a.hot = grow_from(a.base, a.base + arena_hot_bytes);
  a.cold = grow_from(a.base + arena_hot_bytes, a.base + arena_bytes);
  a.usable_hot = never_overcommits() ? a.hot : a.base + arena_hot_bytes;
  a.usable_cold = never_overcommits() ? a.cold : a.base + arena_bytes;
  if (!has_room(a)) {
    release(a);
    return nullptr;
  }
  arena_count++;
  a.to_link = make_gate(a, enter_link);
  a.to_indirect = make_gate(a, enter_indirect);
  a.to_syscall = make_gate(a, enter_syscall);
  a.to_source = make_gate(a, enter_source);
  a.to_emulated = make_gate(a, enter_emulated);
  a.to_far_return = make_gate(a, enter_far_return);
  instrumentation->make_gates(a);
  probes->make_gates(a);
  a.to_unlike = make_gate(a, enter_unlike);
  a.to_key_check = make_gate(a, enter_key_check);
  if (counts_down()) a.to_window = make_gate(a, enter_window);
  return &a;
}

}  // namespace

u64 make_gate(Arena& a, void (*to)()) {
  Emitter e{reinterpret_cast<u8*>(a.hot)};
  const u64 at = e.here();
  e.byte(0xff);  // jmp [rip + 2]: the address is aligned, because the program may have enabled alignment checks
  e.byte(0x25);
  e.dword(2);
  e.nops(2);
  e.qword(reinterpret_cast<u64>(to));
  a.hot = e.here();
  return at;
}

bool can_use(const Arena& a, u64 hot, u64 cold) {
  const auto extend = [](u64& usable, u64 end, u64 limit) {
    if (end > usable) usable = make_usable(page_down(usable), end, limit, read_write_execute);
    return end <= usable;
  };
  return extend(a.usable_hot, hot, a.base + arena_hot_bytes) && extend(a.usable_cold, cold, a.base + arena_bytes);
}

Arena* arena_around(u64 address) {
  for (u32 i = 0; i < arena_count; i++)
    if (address - arenas[i].base < arena_bytes) return &arenas[i];
  return nullptr;
}

u64 arena_address(u32 lower, u32& next) {
  while (next < arena_count) {
    const u64 base = arenas[next++].base;
    const u32 offset = lower - static_cast<u32>(base);
    if (base != 0 && offset < arena_bytes) return base + offset;
  }
  return 0;
}

bool in_generated_code(u64 address) {
  return arena_around(address) != nullptr ||
         (address >= reinterpret_cast<u64>(lookup_begin) && address < reinterpret_cast<u64>(lookup_end));
}

Arena* arena_for(u64 pc) {
  for (u32 i = 0; i < arena_count; i++)
    if (reaches(arenas[i].base, pc) && has_room(arenas[i])) return &arenas[i];
  if (!is_crowded(pc)) {
    if (Arena* const near = new_arena(false, [pc] { return map_near(pc); }); near != nullptr) return near;
    if (arena_count < arena_limit) crowded[crowded_count++ % crowded_limit] = gigabyte_of(pc);
  }
  for (u32 i = 0; i < arena_count; i++)
    if (arenas[i].far && has_room(arenas[i])) return &arenas[i];
  if (Arena* const far = new_arena(true, [] { return try_reserve(arena_bytes, first_protection()); }); far != nullptr)
    return far;
  // No address space is left: any arena with room is as good as a far one.
  for (u32 i = 0; i < arena_count; i++)
    if (has_room(arenas[i])) return &arenas[i];
  return nullptr;
}

void release_arenas() {
  for (u32 i = 0; i < arena_count; i++) {
    release(arenas[i]);
    arenas[i].traces.reset(0);
  }
  arena_count = 0;
  for (u64& one : crowded) one = 0;
}

u64 arenas_bytes() {
  u64 n = 0;
  for (u32 i = 0; i < arena_count; i++) n += arenas[i].far ? 0 : arena_bytes;
  return n;
}

bool flush_makes_room() { return arena_count != 0; }

bool arenas_are_forbidden() {
  const s64 r = kernel(SYS_mmap, 0, page_bytes, read_write_execute, MAP_PRIVATE | MAP_ANONYMOUS, ~u64{0}, 0);
  if (!failed(r)) kernel(SYS_munmap, static_cast<u64>(r), page_bytes);
  return r == -EACCES || r == -EPERM;
}

bool serves(const Arena& a, u64 pc) { return reaches(a.base, pc) && arena_for(pc) == &a; }

bool overlaps_arena(const AddressRange& s) {
  for (u32 i = 0; i < arena_count; i++)
    if (s.meets(arenas[i].base, arena_bytes)) return true;
  return false;
}

u32 arena_ranges(AddressRange* to) {
  for (u32 i = 0; i < arena_count; i++) to[i] = {arenas[i].base, arenas[i].base + arena_bytes};
  return arena_count;
}

void keep_clear(const AddressRange& s) {
  AddressRange all = s;
  for (u32 i = 0; i < kept_clear_count;) {
    // Merge ranges that touch.
    if (kept_clear[i].start > all.end || all.start > kept_clear[i].end) {
      i++;
      continue;
    }
    if (kept_clear[i].start < all.start) all.start = kept_clear[i].start;
    if (kept_clear[i].end > all.end) all.end = kept_clear[i].end;
    kept_clear[i] = kept_clear[--kept_clear_count];
    i = 0;
  }
  if (kept_clear_count < kept_clear_limit) {
    kept_clear[kept_clear_count++] = all;
    return;
  }
  AddressRange& last = kept_clear[kept_clear_limit - 1];
  if (all.start < last.start) last.start = all.start;
  if (all.end > last.end) last.end = all.end;
}

void keep_clear_for_now(const AddressRange& s) { requested_now = s; }

}  // namespace tally::engine::translate
