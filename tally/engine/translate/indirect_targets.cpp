#include "tally/engine/translate/indirect_targets.hpp"

namespace tally::engine::translate {

extern "C" {
IndirectTarget* indirect_targets;
}

namespace {

constexpr u32 first_entries = 1024, most_entries = 1u << 20;
u32 used;

u64& mask_of(IndirectTarget* table) {
  return *reinterpret_cast<u64*>(reinterpret_cast<u64>(table) - indirect_mask_bytes);
}
u32 entries_of(IndirectTarget* table) { return static_cast<u32>(mask_of(table) / sizeof(IndirectTarget)) + 1; }

/// Returns null without memory. The engine never releases a table, because other threads may be reading it.
IndirectTarget* new_table(u32 entries) {
  const u64 at = try_reserve(indirect_mask_bytes + entries * sizeof(IndirectTarget), read_write);
  if (at == 0) return nullptr;
  auto* const table = reinterpret_cast<IndirectTarget*>(at + indirect_mask_bytes);
  mask_of(table) = (entries - 1) * sizeof(IndirectTarget);
  return table;
}

/// The slot of `pc`, or the empty one where it belongs.
IndirectTarget& slot_of(IndirectTarget* table, u64 pc) {
  constexpr u32 entry_shift = 4;
  static_assert(sizeof(IndirectTarget) == 1 << entry_shift);
  u32 i = static_cast<u32>((pc * indirect_target_factor >> (32 - entry_shift) & mask_of(table)) >> entry_shift);
  while (table[i].pc != 0 && table[i].pc != pc) i = (i + 1) & (entries_of(table) - 1);
  return table[i];
}

void write(IndirectTarget& slot, u64 pc, u64 entry) {
  if (slot.pc == 0) used++;
  __atomic_store_n(&slot.pc, pc, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.entry, entry, __ATOMIC_RELEASE);
}

/// Makes room for four times as many. At the limit, all targets are forgotten, and added again when they are reached.
void grow() {
  IndirectTarget* const old = indirect_targets;
  const u32 entries = entries_of(old);
  IndirectTarget* const larger = entries < most_entries ? new_table(entries * 4) : nullptr;
  if (larger == nullptr) return forget_indirect_targets();
  used = 0;
  for (u32 i = 0; i < entries; i++)
    if (old[i].entry != 0) write(slot_of(larger, old[i].pc), old[i].pc, old[i].entry);
  __atomic_store_n(&indirect_targets, larger, __ATOMIC_RELEASE);
  discard_pages(old, entries * sizeof *old);
}

}  // namespace

void indirect_targets_init() {
  indirect_targets = new_table(first_entries);
  if (indirect_targets == nullptr) die("no memory for the engine", 0);
}

void add_indirect_target(u64 pc, u64 entry) {
  if (used * 4 > entries_of(indirect_targets) * 3) grow();
  write(slot_of(indirect_targets, pc), pc, entry);
}

void replace_indirect_target(u64 pc, u64 old, u64 entry) {
  IndirectTarget& slot = slot_of(indirect_targets, pc);
  if (slot.pc == pc && slot.entry == old) write(slot, pc, entry);
}

void forget_indirect_targets() {
  discard_pages(indirect_targets, entries_of(indirect_targets) * sizeof *indirect_targets);
  used = 0;
}

}  // namespace tally::engine::translate
