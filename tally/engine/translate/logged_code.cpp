#include "tally/engine/translate/logged_code.hpp"

#include "tally/engine/code_log.hpp"
#include "tally/engine/translate/process_maps.hpp"
#include "tally/engine/translate/profile.hpp"

namespace tally::engine::translate {
namespace {

using channel::CodeRecordKind;

// Mappings that the log has. Where there are more, one is logged again when its turn comes.
struct Logged {
  u64 start, end;

  bool has(u64 pc) const { return pc - start < end - start; }
};
constexpr u32 logged_limit = 256;
Logged logged[logged_limit];
u32 turn, latest;  // the next one that is replaced; the one that was found last

/// Null where the log does not have the mapping of an address.
const Logged* logged_at(u64 pc) {
  if (logged[latest].has(pc)) return &logged[latest];
  for (u32 i = 0; i < logged_limit; i++)
    if (logged[i].has(pc)) return &logged[latest = i];
  return nullptr;
}

void add_mapping(const ListedMapping& m) {
  auto* const record =
      reinterpret_cast<channel::CodeMapping*>(code_log_begin(sizeof(channel::CodeMapping) + m.path_bytes + 1));
  if (record == nullptr) return;
  record->start = m.start;
  record->end = m.end;
  record->offset = m.offset;
  record->inode = m.inode;
  record->device_major = m.device_major;
  record->device_minor = m.device_minor;
  copy(record + 1, m.path, m.path_bytes);
  code_log_end(&record->head, CodeRecordKind::mapping);
  logged[turn++ % logged_limit] = {m.start, m.end};
}

/// The mapping of an address, which the log has afterwards.
Logged log_mapping_of(u64 pc) {
  lock_code();
  if (logged_at(pc) == nullptr) {
    bool found = false;
    each_mapping([&](const ListedMapping& m) {
      if (found || pc - m.start >= m.end - m.start) return;
      found = true;
      add_mapping(m);
    });
    if (!found) {
      ListedMapping nameless{};
      nameless.start = page_down(pc);
      nameless.end = nameless.start + page_bytes;
      add_mapping(nameless);
    }
  }
  const Logged* const known = logged_at(pc);
  const Logged found = known != nullptr ? *known : Logged{};
  unlock_code();
  return found;
}

u8 field_of(Kind kind) {
  channel::SegmentVector v{};
  add_kind(v, kind);
  for (u32 f = channel::conditional; f < channel::field_count; f++)
    if (f != channel::taken && v.branches[f - 3] != 0) return static_cast<u8>(f);
  return 0;
}

bool is_on_way(const Trace& t, const Place& p) { return !counts_exits(t) || p.segment == 0; }

}  // namespace

void log_trace(const Trace& t) {
  if (!logs_code()) return;
  // A trace may go on in another mapping. Each is in the log before the trace.
  Logged mapping{};
  u32 places = 0;
  for (; places < t.place_count && is_on_way(t, t.places[places]); places++) {
    const Place& p = t.places[places];
    const u64 pc = t.pc + static_cast<u64>(static_cast<s64>(p.pc));
    if (p.kind != Kind::end && !mapping.has(pc)) mapping = log_mapping_of(pc);
  }
  auto* const record = reinterpret_cast<channel::CodeTrace*>(
      code_log_begin(sizeof(channel::CodeTrace) + places * sizeof(channel::CodePlace)));
  if (record == nullptr) return;
  record->pc = t.pc;
  record->number = t.number;
  record->places = places;
  record->segments = t.segment_count;
  record->counts_exits = counts_exits(t);
  if (counts_exits(t))
    for (u32 i = 1; i < t.segment_count; i++)
      if (t.segments[i].counted < t.segments[0].counted) record->early |= u64{1} << i;
  auto* const place = reinterpret_cast<channel::CodePlace*>(record + 1);
  for (u32 i = 0; i < places; i++) {
    const Place& p = t.places[i];
    u32 flags = is_branch(p.kind) ? channel::place_branches : 0;
    if (is_branch(p.kind) && p.falls_through) flags |= channel::place_falls_through;
    if (p.kind == Kind::end) flags |= channel::place_is_end;
    place[i] = {p.pc, field_of(p.kind), p.loads, p.stores, static_cast<u8>(flags)};
  }
  code_log_end(&record->head, CodeRecordKind::trace);
}

bool log_has_room(u32 traces, u32 places) {
  return code_log_has_room(u64{traces} * sizeof(channel::CodeTrace) + u64{places} * sizeof(channel::CodePlace));
}

void log_unmapped(u64 start, u64 end) {
  if (!logs_code()) return;
  for (Logged& one : logged)
    if (one.start < end && one.end > start) one = {};
}

}  // namespace tally::engine::translate
