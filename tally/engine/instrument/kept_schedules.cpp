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
  const u32 i = static_cast<u32>(kept - &table_[0]);
  if (!is_used(i)) order_[order_count_++] = i;
  used_[i / 64] |= u64{1} << i % 64;
  found_++;
  return kept;
}

bool KeptSchedules::is_damaged() const { return translate::persistent_cache->damage() != damage_; }

void KeptSchedules::save() {
  // Scheduling a few blocks each time costs less than writing all each time.
  constexpr u32 least = 64, fresh_share = 8, most_unused = 3;
  if (fresh_count_ < least || fresh_count_ < found_ / fresh_share) return;
  const bool keeps_all = table_.size() + fresh_count_ <= most_unused * order_count_;
  const u32 limit = keeps_all ? table_.size() + fresh_count_ : order_count_;
  const u64 bytes = models::ScheduleTable::bytes_for(limit);
  u8* const made = translate::persistent_cache->begin_data(key_, bytes);
  if (made == nullptr) return;
  for (u32 i = 0; i < order_count_; i++) {
    const bool is_fresh = order_[i] >= table_.size();
    const models::Schedule& used = is_fresh ? fresh_[order_[i] - table_.size()] : table_[order_[i]];
    // States that became equal have the same name.
    if (!is_fresh || models::ScheduleTable(made, bytes).find(used.key) == nullptr)
      models::ScheduleTable::add(made, limit, used);
  }
  for (u32 i = 0; i < table_.size() && keeps_all; i++)
    if (!is_used(i)) models::ScheduleTable::add(made, limit, table_[i]);
  translate::persistent_cache->end_data(made);
}

}  // namespace tally::engine::instrument
