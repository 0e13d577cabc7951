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
    limit_ = schedules;
    return fresh_.init(limit_) && used_.init(table_.size() / 64 + 1) && order_.init(table_.size() + limit_);
  }
  const models::Schedule* find(u64 key) override;
  void add(const models::Schedule& schedule) override {
    if (fresh_count_ == limit_) return;
    order_[order_count_++] = table_.size() + fresh_count_;
    fresh_[fresh_count_++] = schedule;
  }
  /// Whether schedules that were found may be wrong, because the disk failed or the file was truncated.
  bool is_damaged() const;
  /// Keeps what was found and added, if that is worth it.
  void save();

 private:
  bool is_used(u32 i) const { return (used_[i / 64] >> i % 64 & 1) != 0; }

  models::ScheduleTable table_;
  Scratch<models::Schedule> fresh_;
  Scratch<u64> used_;   // a bit for each schedule of the table
  Scratch<u32> order_;  // the schedules that are used: indexes of the table, then of `fresh_`
  u64 key_ = 0;
  u32 limit_ = 0, fresh_count_ = 0, order_count_ = 0, found_ = 0, damage_ = 0;
};

}  // namespace tally::engine::instrument
