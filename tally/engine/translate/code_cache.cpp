#include "tally/engine/translate/code_cache.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/compared_code.hpp"
#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/indirect_targets.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::translate {

Lock cache_lock{note_cache_damaged};
Tables tables;

namespace {

bool damaged;

// Program address → trace: open addressing, grows by doubling. Slots with another low half are skipped.
struct Slot {
  u32 trace;
  u32 low;  // low half of its program address
};
Slot* slots;
u32 slot_mask;
u32 slots_used;

u32 generation = 1;
bool jump_tables_have_dead;  // jump tables contain dead traces, which forward jumps to their replacements

/// Returns null without memory.
template <class T>
T* new_table(u32 entries) {
  return reinterpret_cast<T*>(try_reserve(page_up(u64{entries} * sizeof(T)), read_write));
}

/// Neighbouring code has neighbouring slots: eight slots, a cache line, for 128 bytes of code.
u32 first_slot(u64 key) { return (channel::hash32(key >> 7) << 3 | (key >> 4 & 7)) & slot_mask; }

/// `reuses`: the slots of dead traces.
void insert_slot(u32 trace, bool reuses) {
  const u64 key = key_of(tables.traces[trace]);
  // Reuse the slot of a dropped trace, so that code that is rewritten again and again does not fill the table. Prefer
  // one of the same address: its forwarding jump will lead to this trace.
  constexpr u32 none = ~0u;
  u32 i = first_slot(key), found = none;
  for (; slots[i].trace != 0; i = (i + 1) & slot_mask) {
    if (!reuses) continue;
    Trace& t = tables.traces[slots[i].trace];
    if (!t.dead) continue;
    if (key_of(t) == key) {
      if (t.suspended != 0) drop(t);
      tables.traces[trace].forwarding_jump = t.forwarding_jump;
      found = i;
      break;
    }
    if (found == none && t.suspended == 0) found = i;
  }
  if (found == none) {
    slots_used++;
    found = i;
  }
  slots[found] = {trace, static_cast<u32>(key)};
}

/// Makes room for `n` slots, a power of two.
bool grow_slots(u32 n) {
  Slot* const larger =
      new_table<Slot>(n);  // the old one is not freed: all old ones together are smaller than the new one
  if (larger == nullptr) return false;
  __atomic_store_n(&slots, larger,
                   __ATOMIC_RELEASE);  // first, so that the range to discard is never larger than the table
  populate(slots, n * sizeof *slots);
  __atomic_store_n(&slot_mask, n - 1, __ATOMIC_RELEASE);
  slots_used = 0;
  for (u32 t = 1; t < tables.traces.size; t++)
    if (!tables.traces[t].dead || tables.traces[t].suspended != 0) insert_slot(t, tables.has_dead);
  return true;
}

/// Turns the head of a trace into a jump to the one before it, which leads to `to`. Writes two bytes in one store: the
/// head is aligned and its first instruction has at least two bytes, so no thread is between them.
void patch_head(const Trace& t, u64 to) {
  Emitter front{reinterpret_cast<u8*>(t.start - dead_jump_bytes)};
  front.jump(to);
  const u32 back = static_cast<u32>(t.start - dead_jump_bytes - t.body - 2) & 0xff;
  if (t.loop != 0) __atomic_store_n(reinterpret_cast<u32*>(t.body + t.loop), 0u, __ATOMIC_RELEASE);
  __atomic_store_n(reinterpret_cast<u16*>(t.body), static_cast<u16>(0xeb | back << 8), __ATOMIC_RELEASE);
}

/// Forwards jumps to a dropped trace to the next translation of its code. All dropped traces of one address share a
/// forwarding jump, so that code that is rewritten again and again leaves no chain of jumps.
void patch_dead(Trace& t) {
  if (t.forwarding_jump != 0 && fits32(static_cast<s64>(t.forwarding_jump - t.start))) {
    patch_forwarding_jump(t.forwarding_jump, 0);
  } else {
    Arena* const a = arena_around(t.body);
    Emitter e{reinterpret_cast<u8*>(a->cold)};
    while (crosses_line(e.here() + 1)) e.byte(0x90);
    t.forwarding_jump = e.here();
    e.jump(e.here() + 5);
    emit_stub(*a, e, t.forwarding_jump + 1, key_of(t));
    a->cold = e.here();
  }
  patch_head(t, t.forwarding_jump);
}

}  // namespace

bool cache_is_damaged() { return __atomic_load_n(&damaged, __ATOMIC_SEQ_CST); }
void note_cache_damaged() { __atomic_store_n(&damaged, true, __ATOMIC_SEQ_CST); }

void cache_init() {
  tables.traces.init_in_steps(1u << 20);
  tables.places.init_in_steps(24u << 20);
  tables.segments.init_in_steps(channel::segment_limit);
  tables.traces.size = 1;
  links_init();
  indirect_targets_init();
  slot_mask = 4095;
  slots = new_table<Slot>(4096);
  if (slots == nullptr) die("no memory for the engine", 0);
  populate(slots, (slot_mask + 1) * sizeof *slots);  // accessed in random order, first by searches
  code_pages_init();
}

void forget_jumps(Thread* t) {
  // Empty entries lead into the engine. Dropping the private copies of the image's page restores them.
  discard_pages(jump_table(t), jump_table_entries * 8);
  // The same memory has the recent jumps of a thread that counts them.
  if (counts_down() || settings().counts_jumps != 0) discard_pages(steps_table(t), jump_table_entries * 8);
  t->generation = cache_generation();
}

namespace {

void forget_all_jumps() {
  generation++;
  jump_tables_have_dead = false;
  forget_indirect_targets();
  Guard guard(threads_lock);
  for (Thread* t = threads(); t != nullptr; t = t->next) forget_jumps(t);
}

/// The caller holds threads_lock.
void replace_jumps(const Trace& dead) {
  const Trace* const live = find_trace(key_of(dead));
  const u64 entry = live != nullptr ? live->entry : 0;
  const u64 filling = entry != 0 ? entry : reinterpret_cast<u64>(engine_no_target);
  if (!dead.steps) replace_indirect_target(dead.pc, dead.entry, entry);
  for (Thread* t = threads(); t != nullptr; t = t->next) {
    u64& slot = jump_slot(t, dead.pc, dead.steps);
    if (slot == dead.entry) __atomic_store_n(&slot, filling, __ATOMIC_RELEASE);
  }
}

}  // namespace

void replace_dead_jumps() {
  if (!jump_tables_have_dead) return;
  jump_tables_have_dead = false;
  generation++;
  Guard guard(threads_lock);
  for (u32 i = 1; i < tables.traces.size; i++) {
    Trace& trace = tables.traces[i];
    if (!trace.dead || trace.suspended != 0 || trace.entry == 0 || trace.jumps_replaced) continue;
    replace_jumps(trace);
    trace.jumps_replaced = true;
  }
  for (Thread* t = threads(); t != nullptr; t = t->next) t->generation = generation;
}

void drop(Trace& t) {
  jump_tables_have_dead = true;
  const bool was_suspended = t.suspended != 0;
  t.suspended = 0;
  if (was_suspended) return;
  mark_dead(t);
  patch_dead(t);
}

bool traces_can_be_suspended() { return !is_probed && !counts_down() && !logs_code(); }

bool suspend(Trace& t) {
  if (t.steps || t.compared != 0) return false;
  if (t.suspended++ != 0) return true;
  mark_dead(t);
  t.head = at<u16>(t.body);
  if (t.loop != 0) t.loop_jump = at<u32>(t.body + t.loop);
  patch_dead(t);
  return true;
}

void resume(Trace& t) {
  if (--t.suspended != 0) return;
  if (t.loop != 0) __atomic_store_n(reinterpret_cast<u32*>(t.body + t.loop), t.loop_jump, __ATOMIC_RELEASE);
  __atomic_store_n(reinterpret_cast<u16*>(t.body), t.head, __ATOMIC_RELEASE);
  t.dead = false;
  if (fits32(static_cast<s64>(t.body - t.forwarding_jump))) patch_forwarding_jump(t.forwarding_jump, t.body);
}

void supersede(Trace& old, const Trace* by) {
  jump_tables_have_dead = true;
  if (by == nullptr || !fits32(static_cast<s64>(by->body - old.start))) return patch_dead(old);
  patch_head(old, by->body);
  if (by->forwarding_jump != 0 && fits32(static_cast<s64>(by->body - by->forwarding_jump)))
    patch_forwarding_jump(by->forwarding_jump, by->body);
}

u32 cache_generation() { return generation; }

void cache_reset() {
  release_arenas();
  tables.traces.reset(1);
  tables.places.reset(0);
  tables.segments.reset(0);
  tables.has_dead = false;
  links_forget();
  code_pages_reset();
  instrumentation->discarded();
  probes->discarded();
  persistent_cache->discarded();
  discard_pages(slots, (slot_mask + 1) * sizeof *slots);
  slots_used = 0;
  // Pages stay watched: writes to them drop nothing, and code translated from them is watched again.
  forget_all_jumps();
  __atomic_store_n(&damaged, false, __ATOMIC_SEQ_CST);
}

bool has_room(const Arena& a, u32 traces, u64 block_bytes) {
  const u64 hot = a.hot + block_bytes + 65536, cold = a.cold + 65536 + (a.traces.size + traces) * later_bytes;
  return hot < a.base + arena_hot_bytes && cold < a.base + arena_bytes && !a.traces.full(traces + 1) &&
         can_use(a, hot, cold);
}

bool tables_have_room() {
  const u32 limit = settings().cache_limit;
  return (limit == 0 || tables.traces.size <= limit) && !tables.traces.full() && !tables.places.full(512) &&
         !tables.segments.full(512) && !links_are_full(512 + tables.traces.size) && instrumentation->has_room() &&
         probes->has_room() && log_has_room(1, 512) &&
         // Tables grow here so that a started trace has room.
         (slots_used * 2 <= slot_mask || grow_slots((slot_mask + 1) * 4)) && code_pages_have_room();
}

bool have_room(u32 traces, u32 exits, u32 nodes, u32 different_pages, u32 numbers) {
  const u32 limit = settings().cache_limit;
  if (limit != 0 && tables.traces.size + traces > limit) return false;
  if (tables.traces.full(traces) || links_are_full(exits + 512 + tables.traces.size + traces) ||
      segment_limit_so_far() + numbers + 1024 > channel::segment_limit)
    return false;
  u32 slots_needed = slot_mask + 1;
  while ((slots_used + traces) * 2 >= slots_needed) slots_needed *= 4;
  if (slots_needed > slot_mask + 1 && !grow_slots(slots_needed)) return false;
  return code_pages_have_room(nodes, different_pages);
}

Trace* find_trace(u64 key) {
  for (u32 i = first_slot(key); slots[i].trace != 0; i = (i + 1) & slot_mask) {
    if (slots[i].low != static_cast<u32>(key)) continue;
    Trace& t = tables.traces[slots[i].trace];
    if (key_of(t) == key && !t.dead) return &t;
  }
  return nullptr;
}

Trace* suspended_trace(u64 key) {
  for (u32 i = first_slot(key); slots[i].trace != 0; i = (i + 1) & slot_mask) {
    if (slots[i].low != static_cast<u32>(key)) continue;
    Trace& t = tables.traces[slots[i].trace];
    if (key_of(t) == key && t.suspended != 0) return &t;
  }
  return nullptr;
}

Trace* new_trace(Arena& arena, u64 key, u64 start, bool is_first) {
  const u32 index = tables.traces.add(Trace{});
  if (index == large_program) use_huge_pages();
  Trace& t = tables.traces[index];
  t.pc = pc_of_key(key);
  t.steps = t.pc != key;
  t.start = start;
  t.number = segment_limit_so_far();  // until it has one: numbers ascend from trace to trace
  arena.traces.add(index);
  insert_slot(index, tables.has_dead && !is_first);
  return &t;
}

u64 literal(Arena& a, u64 value) {
  a.cold = (a.cold + 7) & ~7ull;
  *reinterpret_cast<u64*>(a.cold) = value;
  a.cold += 8;
  return a.cold - 8;
}

bool locate(u64 address, CacheLocation& out) {
  Arena* const a = arena_around(address);
  if (a == nullptr || address - a->base >= arena_hot_bytes) return false;
  const u32 begun = numbers_before(a->traces.size, [&](u32 k) { return tables.traces[a->traces[k]].start <= address; });
  if (begun == 0) return false;
  const Trace& t = tables.traces[a->traces[begun - 1]];
  if (address < t.body || address - t.body >= t.bytes) return false;
  const u32 offset = static_cast<u32>(address - t.body);
  const InstructionMapping* const places = t.places;
  u32 i = t.place_count;
  while (i > 1 && places[i - 1].offset > offset) i--;
  out = {&t, &places[i - 1], i - 1, offset, places[i - 1].offset == offset || offset == 0};
  return true;
}

}  // namespace tally::engine::translate
