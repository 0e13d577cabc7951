#include "tally/engine/instrument/kept_schedules.hpp"

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/translate/recorder.hpp"

namespace tally::engine::instrument {
namespace {

/// Identifies the core that the command has sent.
u64 key_of_core() {
  const channel::ModelCore& core = settings().core;
  u64 key = 0;
  for (u64 at = 0; at < sizeof core; at += 8) {
    u64 word = 0;
    const u64 left = sizeof core - at;
    copy(&word, reinterpret_cast<const u8*>(&core) + at, left < 8 ? left : 8);
    key = channel::checksum_with(key, word);
  }
  return key;
}

}  // namespace

bool KeptSchedules::open() {
  key_ = key_of_core();
  damage_ = translate::persistent_cache->damage();
  u64 bytes = 0;
  if (const u8* const kept = translate::persistent_cache->find_data(key_, bytes)) table_ = {kept, bytes};
  return table_.size() != 0 || (translate::persistent_cache->is_written() && translate::persistent_cache->keeps_any());
}

const models::Schedule* KeptSchedules::find(u64 key) {
  const models::Schedule* const kept = table_.find(key);
  if (kept == nullptr) return nullptr;
  const u32 slot = static_cast<u32>(kept - &table_[0]);
  used_[slot / 64] |= u64{1} << slot % 64;
  found_++;
  return kept;
}

bool KeptSchedules::is_damaged() const { return translate::persistent_cache->damage() != damage_; }

void KeptSchedules::save() {
  // Scheduling a few blocks each time costs less than writing all each time.
  constexpr u32 least = 64, fresh_share = 8, most_unused = 3;
  if (fresh_count_ < least || fresh_count_ < found_ / fresh_share) return;
  u32 before = 0, used = 0;
  for (u32 i = 0; i < table_.size(); i++) {
    before += table_[i].key != 0;
    used += is_used(i);
  }
  const bool keeps_all = before + fresh_count_ <= most_unused * (used + fresh_count_);
  const u64 bytes = models::ScheduleTable::bytes_for((keeps_all ? before : used) + fresh_count_);
  u8* const made = translate::persistent_cache->begin_data(key_, bytes);
  if (made == nullptr) return;
  for (u32 i = 0; i < table_.size(); i++)
    if (table_[i].key != 0 && (keeps_all || is_used(i))) models::ScheduleTable::add(made, bytes, table_[i]);
  const models::ScheduleTable table(made, bytes);
  for (u32 i = 0; i < fresh_count_; i++)  // states that became equal have the same name
    if (table.find(fresh_[i].key) == nullptr) models::ScheduleTable::add(made, bytes, fresh_[i]);
  translate::persistent_cache->end_data(made);
}

}  // namespace tally::engine::instrument
