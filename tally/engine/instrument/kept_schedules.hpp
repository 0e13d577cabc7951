/// Schedules of the core model that are kept with the translations, for later runs of the program and for its other
/// processes.
#pragma once
#include "tally/engine/models/core/schedules.hpp"
#include "tally/engine/translate/execution_counts.hpp"

namespace tally::engine::instrument {

/// The caller holds cache_lock.
class KeptSchedules final : public models::ScheduleStore {
 public:
  /// Finds the schedules for the core in the settings. Returns false if there are none, and new ones cannot be kept.
  bool open();
  /// Reserves memory for this number of new schedules; false without memory.
  bool reserve(u32 schedules) {
    return fresh_.init(schedules) && used_.init(table_.size() / 64 + 1) && (limit_ = schedules, true);
  }
  const models::Schedule* find(u64 key) override;
  void add(const models::Schedule& schedule) override {
    if (fresh_count_ < limit_) fresh_[fresh_count_++] = schedule;
  }
  /// Whether schedules that were found may be wrong, because the disk failed or the file was truncated.
  bool is_damaged() const;
  /// Keeps what was found and added, if that is worth it.
  void save();

 private:
  bool is_used(u32 slot) const { return (used_[slot / 64] >> slot % 64 & 1) != 0; }

  models::ScheduleTable table_;
  Scratch<models::Schedule> fresh_;
  Scratch<u64> used_;  // a bit for each slot of the table
  u64 key_ = 0;
  u32 limit_ = 0, fresh_count_ = 0, found_ = 0, damage_ = 0;
};

}  // namespace tally::engine::instrument
