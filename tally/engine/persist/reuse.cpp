#include "tally/engine/persist/reuse.hpp"

#include "tally/engine/instrument/call_code.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/jump_probes.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/running_totals.hpp"
#include "tally/engine/instrument/sites.hpp"
#include "tally/engine/translate/entry.hpp"
#include "tally/engine/translate/generate.hpp"
#include "tally/engine/translate/linking.hpp"
#include "tally/engine/translate/logged_code.hpp"
#include "tally/engine/translate/mix_rows.hpp"

namespace tally::engine::persist {

u64 room_before(const Template& t, u64 body) {
  const auto fits_cache_lines = [&](u64 later) {
    for (u32 i = 0; i < t.fixup_count; i++) {
      const Fixup& f = t.fixups()[i];
      if ((f.what == Fix::exit || f.what == Fix::exit_by) && crosses_line(body + later + f.offset)) return false;
    }
    return t.loop == 0 || !crosses_line(body + later + t.loop);
  };
  u64 later = 0;
  while (later < room_nowhere && !fits_cache_lines(later)) later += trace_alignment;
  return later;
}

namespace {

u64 address(u64 pc, const Fixup& f) { return pc + static_cast<u64>(static_cast<s64>(f.value)); }

/// Whether the code will reach everything that it refers to by a displacement.
bool can_use(const Template& t, u64 pc, const Arena& arena) {
  if (room_before(t, 0) == room_nowhere) return false;
  constexpr s64 code_limit = 1 << 20;  // the code starts within this distance of the arena's current end
  for (u32 i = 0; i < t.fixup_count; i++) {
    const Fixup& f = t.fixups()[i];
    u64 target = 0;
    if (f.what == Fix::relative) {
      const s64 distance = static_cast<s64>(address(pc, f) - arena.hot);
      if (!fits32(distance - code_limit) || !fits32(distance + code_limit)) return false;
    }
    if (f.what == Fix::line && line_number(address(pc, f)) == 0) return false;
    if (f.what == Fix::exit_by && !(read_pointer(address(pc, f), target) && serves(arena, target))) return false;
  }
  return true;
}

/// The target of the next call among the fixups, and the last call_word_of().
u64 call_target;
u32 call_word;

void apply(Builder& b, u64 stubs, const Fixup& f) {
  u8* const at = reinterpret_cast<u8*>((f.in_stubs ? stubs : b.body) + f.offset);
  u64 to = address(b.trace.pc, f), value = 0;
  const u64 after = reinterpret_cast<u64>(at) + 4;
  switch (f.what) {
    case Fix::counter: value = counters_at + 8 * (b.trace.number + static_cast<u32>(f.value)); break;
    case Fix::touched:
      value = instrument::touched_at + (b.trace.number + static_cast<u32>(f.value)) / instrument::counters_per_touch;
      break;
    case Fix::call_target:
      if (f.extra != 0) read_pointer(to, to);
      call_target = to;
      return;
    case Fix::call_site:
      value = call_word = instrument::jumps_on()
                              ? instrument::jump_word_of(to)
                              : instrument::call_word_of(to, f.extra != 0 ? call_target : 0,
                                                         static_cast<u32>(&b.trace - tables.traces.data));
      break;
    case Fix::to_call: value = b.arena.to_call[f.extra != 0 ? call_return : call_word % call_kinds] - after; break;
    case Fix::to_window: value = b.arena.to_window - after; break;
    case Fix::relative: value = to - after - f.extra; break;
    case Fix::pushed: value = literal(b.arena, to) - after; break;
    case Fix::gate: value = b.arena.to_syscall + f.extra * u64{gate_bytes} - after; break;
    case Fix::low_address: value = to; break;
    case Fix::to_lookup: value = b.arena.to_lookup - after; break;
    case Fix::to_model: value = b.arena.to_model - after; break;
    case Fix::to_body: value = b.body + static_cast<u32>(f.value) - after; break;
    case Fix::to_stubs: value = stubs + static_cast<u32>(f.value) - after; break;
    case Fix::line: value = line_number(to); break;
    case Fix::page_entry: value = code_page_entry(to); break;
    case Fix::outcome: value = instrument::word_of(static_cast<instrument::OutcomeKind>(f.extra), to); break;
    case Fix::target_by:
      read_pointer(to, to);
      value = to;
      break;
    case Fix::code_site: value = channel::code_site(to, logged_mapping(to)) >> 32; break;
    case Fix::site: value = site_at(to, f.extra); break;
    case Fix::unstable: record_unstable(to, f.extra); return;
    case Fix::negated: to = 0 - to; [[fallthrough]];
    case Fix::address: __builtin_memcpy(at, &to, 8); return;
    case Fix::exit_by: read_pointer(to, to); [[fallthrough]];
    case Fix::exit: link_exit(b.arena, at, to); return;
  }
  __builtin_memcpy(at, &value, 4);
}

void register_pages(const Template& t, u64 pc, u32 index) {
  for (u32 i = 0; i < t.range_count; i++) {
    const u64 first = pc + static_cast<u64>(static_cast<s64>(t.ranges()[i].from));
    register_code(index, first, t.ranges()[i].bytes);
  }
  for (u32 i = 0; i < t.fixup_count; i++)
    if (t.fixups()[i].what == Fix::exit_by) register_code(index, address(pc, t.fixups()[i]), 8);
}

/// Returns null if there is no room, or if the copied data is damaged.
Trace* make(const Template& t, u64 pc, bool by_jump, Arena& arena) {
  const u32 damage_before = store_damage();
  Builder b = begin_trace(arena, pc, by_jump, room_before(t, next_body(arena, pc, by_jump)));
  Trace& trace = b.trace;
  trace.places = t.places();
  trace.place_count = t.place_count;
  trace.segments = t.segments();
  trace.segment_count = t.segment_count;
  trace.bytes = t.trace_bytes;
  trace.loop = t.loop;
  trace.generation = t.generation;
  trace.looked_ahead = t.looked_ahead;
  trace.number = new_segments(t.vectors(), t.segment_count);
  if (trace.number == 0) {
    abandon_trace(b);
    return nullptr;
  }
  register_pages(t, pc, static_cast<u32>(&trace - tables.traces.data));
  b.e.words(t.code(), t.code_bytes);
  const u64 stubs = arena.cold;
  Emitter stub{reinterpret_cast<u8*>(stubs)};
  stub.words(t.stubs(), t.stub_bytes);
  arena.cold = stub.here();
  for (u32 i = 0; i < t.fixup_count; i++) apply(b, stubs, t.fixups()[i]);
  if (model_plan.any())
    models_take_ranges(static_cast<u32>(&trace - tables.traces.data), t.model_ranges(), t.model_range_count);
  arena.hot = b.e.here();
  if (store_damage() == damage_before) {
    fill_mix_rows(trace);
    log_trace(trace);
    return &trace;
  }
  mark_dead(trace);
  return nullptr;
}

}  // namespace

Trace* reuse(const Template& t, u64 pc, bool by_jump, Arena& arena) {
  if (!can_use(t, pc, arena)) return nullptr;
  const u32 index = tables.traces.size;
  place_segments(t.segment_count);
  Trace* const made = make(t, pc, by_jump, arena);
  return made != nullptr ? made : &tables.traces[index];
}

}  // namespace tally::engine::persist
