#include "tally/engine/instrument/located_values.hpp"

#include "tally/engine/code_log.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/model_setup.hpp"

namespace tally::engine::instrument {
namespace {

using channel::CodeValues;

CodeValues* table_of(Thread* t) {
  return reinterpret_cast<CodeValues*>(reinterpret_cast<u64>(cold_models_of(t)) + own_room() + rings_bytes());
}

}  // namespace

bool located_values_attach(Thread* t) {
  if (!locates_values()) return true;
  const u32 area = code_log_area(channel::CodeRecordKind::statistics, t->process, t->index);
  const u64 at = reinterpret_cast<u64>(table_of(t));
  if (area == 0 || failed(kernel(SYS_mmap, at, channel::area_bytes, read_write, MAP_SHARED | MAP_FIXED,
                                 inherited(channel::inherited_channel), channel::area_offset(area))))
    return false;
  keep_from_core(at, channel::area_bytes);
  records().thread(t->index).statistics = area;
  return true;
}

void place_core_cycles(Thread* t, u64 pc, u64 cycles, u64 executions) {
  if (!places_misses()) {
    auto* const list = reinterpret_cast<channel::CodeCycles*>(table_of(t));
    if (list->pc < channel::code_cycles_limit) list[++list->pc] = {pc, cycles, executions};
    return;
  }
  const channel::LocatedValues& placed = settings().placed;
  for (u32 i = 0; i < placed.count; i++) {
    if (placed.figure[i] != channel::placed_cycles) continue;
    const u64 site = channel::code_site(pc, code_log_mapping_of != nullptr ? code_log_mapping_of(pc) : 0);
    if (CodeValues* const row = channel::values_at(table_of(t), site); row != nullptr) row->figure[i] += cycles;
  }
}

u64* ValueRecorder::row_of(u64 site) {
  CodeValues* const row = channel::values_at(table_of(thread_), site);
  return row != nullptr ? row->figure : nullptr;
}

}  // namespace tally::engine::instrument
