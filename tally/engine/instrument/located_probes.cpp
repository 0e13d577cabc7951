#include "tally/engine/instrument/located_probes.hpp"

#include "tally/engine/channel/value_table.hpp"
#include "tally/engine/code_log_writer.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/model_setup.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/translate/past_code.hpp"

namespace tally::engine::instrument {
namespace {

u64 area_of(Thread* t) { return reinterpret_cast<u64>(cold_models_of(t)) + own_room() + rings_bytes(); }

channel::ValueTable table_of(Thread* t) { return channel::ValueTable(reinterpret_cast<void*>(area_of(t))); }

/// Makes an area the table of a thread.
bool map_table(Thread* t, u32 area) {
  const u64 at = area_of(t);
  if (area == 0 || !map_channel(at, channel::area_bytes, channel::area_offset(area))) return false;
  records().thread(t->index).statistics = area;
  return true;
}

}  // namespace

bool located_values_attach(Thread* t) {
  if (!locates_values()) return true;
  const u32 area = code_log_area(channel::CodeRecordKind::statistics, t->process, t->index);
  cold_models_of(t)->located = {area, 0, 0};
  return map_table(t, area);
}

void located_values_enter_part(Thread* t, u32 part) {
  if (!places_misses()) return;
  LocatedTables& tables = cold_models_of(t)->located;
  if (part != 0 && part != tables.part) tables = {tables.outside, part, 0};
  u32& area = part == 0 ? tables.outside : tables.within;
  if (area == 0) area = code_log_area(channel::CodeRecordKind::statistics, t->process, t->index, part);
  if (map_table(t, area)) return;
  records().thread(t->index).statistics = 0;
  kernel(SYS_mmap, area_of(t), channel::area_bytes, read_write, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1ull, 0);
}

void place_core_cycles(Thread* t, u64 pc, u32 mapping, const models::CoreTimes& cycles, u64 executions) {
  if (windows_on()) {
    auto* const list = reinterpret_cast<channel::CodeCycles*>(area_of(t));
    if (list->pc < channel::code_cycles_limit) list[++list->pc] = {program_address(pc), cycles.sum(), executions};
    return;
  }
  const channel::LocatedValues& placed = settings().placed;
  constexpr u32 size = channel::ValueRow::values;
  static_assert(size == models::InstructionRecorder::group_size);
  const u64 site = channel::code_site(program_address(pc), mapping);
  u64* row = nullptr;
  u32 group = placed.count;
  for (u32 i = 0; i < placed.count; i++) {
    if (placed.figure[i] < channel::placed_cycles) continue;
    const u64 more = cycles.by[placed.figure[i] - channel::placed_cycles];
    if (more == 0) continue;
    if (group != i / size) row = table_of(t).at(site, group = i / size);
    if (row != nullptr) row[i % size] += more;
  }
}

u64* ValueRecorder::row_of(u64 site, u32 group) { return table_of(thread_).at(site, group); }

}  // namespace tally::engine::instrument
