#include "tally/engine/translate/recorder.hpp"

#include "tally/engine/translate/generate.hpp"

namespace tally::engine::translate {
namespace {

class NoPersistentCache final : public PersistentCache {};
constinit NoPersistentCache no_persistent_cache;

}  // namespace

LARGE Recorder recorder;
constinit PersistentCache* persistent_cache = &no_persistent_cache;

void Recorder::begin(const Builder& b, bool by_jump, u8 generation) {
  keep_ = persistent_cache->keeps(b.trace.pc, generation);
  r_.by_jump = by_jump;
  r_.generation = generation;
  r_.pc = b.trace.pc;
  r_.body = b.body;
  r_.stubs = b.arena.cold;
  to_lookup_ = b.arena.to_lookup;
  to_model_ = b.arena.to_model;
  to_window_ = b.arena.to_window;
  r_.fixups = r_.ranges = r_.originals = 0;
}

void Recorder::note(const Instruction& in) {
  if (!records()) return;
  const s64 from = static_cast<s64>(in.pc - r_.pc);
  for (u32 i = 0; i < r_.ranges; i++)
    if (from >= r_.range[i].from && from + in.length <= r_.range[i].from + static_cast<s64>(r_.range[i].bytes)) return;
  // Code that continues at the end of the last range extends this range.
  const bool more =
      r_.ranges > 0 && r_.range[r_.ranges - 1].from + static_cast<s64>(r_.range[r_.ranges - 1].bytes) == from;
  if (!fits32(from) || r_.originals + in.length > Recording::original_limit ||
      (!more && r_.ranges == Recording::range_limit))
    return give_up();
  if (more)
    r_.range[r_.ranges - 1].bytes += in.length;
  else
    r_.range[r_.ranges++] = {static_cast<s32>(from), in.length};
  for (u32 i = 0; i < in.length; i++) r_.original[r_.originals++] = in.bytes[i];
}

void Recorder::add(const Fixup& fixup) {
  if (r_.fixups == Recording::fixup_limit) return give_up();
  r_.fixup[r_.fixups++] = fixup;
}

void Recorder::fix(Fix what, u64 offset, s64 value, u32 extra) {
  if (!records()) return;
  if (!fits32(value)) return give_up();
  add({static_cast<s32>(value), static_cast<u16>(offset), what, static_cast<u8>(extra & 127), 0});
}

void Recorder::fix_at(Fix what, const u8* at, u64 address, u32 extra) {
  if (!records()) return;
  const s64 value = static_cast<s64>(address - r_.pc);
  if (!fits32(value)) return give_up();
  const u64 address_of_value = reinterpret_cast<u64>(at);
  const bool in_stubs = !is_in_body(address_of_value);
  add({static_cast<s32>(value), static_cast<u16>(address_of_value - (in_stubs ? r_.stubs : r_.body)), what,
       static_cast<u8>(extra & 127), in_stubs});
}

void Recorder::refer(const u8* at, u64 to) {
  if (!records()) return;
  if (to == to_lookup_ || to == to_model_) return fix_at(to == to_lookup_ ? Fix::to_lookup : Fix::to_model, at, r_.pc);
  if (to == to_window_) return fix_at(Fix::to_window, at, r_.pc);
  const bool leads_to_body = is_in_body(to);
  if (leads_to_body == is_in_body(reinterpret_cast<u64>(at))) return;
  const u64 offset = to - (leads_to_body ? r_.body : r_.stubs);
  fix_at(leads_to_body ? Fix::to_body : Fix::to_stubs, at, r_.pc + offset);
}

void Recorder::end(const Builder& b, u32 use) {
  if (keep_ == Keep::later) b.trace.use = PersistentCache::later_use;
  if (!records()) return;
  const Keep keep = keep_;
  give_up();
  persistent_cache->add(r_, b, use, keep);
}

}  // namespace tally::engine::translate
