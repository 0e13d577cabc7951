// Schedules of blocks that earlier runs computed: what one execution costs and the state it ends in, by a key of the
// block's code and of the state in which it is entered.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

/// Ticks are summed in this unit, so that the mean over 2, 3, 4 or 6 rounds of a loop is exact.
constexpr unsigned parts_of_tick = 12;

/// The causes of one execution: all but mispredictions.
constexpr unsigned scheduled_causes = static_cast<unsigned>(Cause::mispredicts);

/// Identifies a state of the core, wherever the program is in memory. The lowest bit: the state has stores that are
/// addressed without registers.
using StateName = std::uint64_t;

/// What one execution of a block costs in one entry state.
struct Schedule {
  std::uint64_t key = 0;  ///< 0: a free slot
  StateName end = 0;
  std::array<std::uint32_t, scheduled_causes> parts = {};  ///< of ticks, by cause
  std::uint16_t aliases = 0;                               ///< CoreCost::aliases
  std::uint16_t unknown = 0;                               ///< CoreCost::unknown

  CoreTimes times() const {
    CoreTimes times;
    for (unsigned i = 0; i < scheduled_causes; ++i) times.by[i] = parts[i];
    return times;
  }
};
static_assert(sizeof(Schedule) == 48);

/// Mixes a word into a key. All bits of the result depend on all bits of both.
constexpr std::uint64_t mixed(std::uint64_t key, std::uint64_t word) {
  key = (key ^ word) * 0x9E37'79B9'7F4A'7C15;
  key = (key ^ key >> 32) * 0xD6E8'FEB8'6659'FD93;
  return key ^ key >> 32;
}

/// Absolute addresses reach code below this. It is at the same address in each run.
constexpr std::uint64_t absolute_limit = std::uint64_t{1} << 31;

/// Whether an address has neither registers nor a segment.
constexpr bool is_fixed(const SymbolicAddress& at) {
  constexpr std::uint8_t others = SymbolicAddress::has_base | SymbolicAddress::in_fs | SymbolicAddress::in_gs;
  return at.bytes != 0 && (at.form & others) == 0;
}

/// The distance between code at two addresses, in bytes of whole pages. Code below `absolute_limit` has the distance 0.
/// Other code is at another address in each run, but code of one file stays together.
struct CodeDistance {
  std::int64_t bytes = 0;
  /// Farther than any instruction reaches: no address without registers is the same in both.
  bool is_far() const { return bytes >= limit || bytes <= -limit; }
  static constexpr std::int64_t limit = std::int64_t{1} << 32;
};
CodeDistance distance(std::uint64_t from, std::uint64_t to);

/// Forgets the stores that are addressed without registers.
void forget_fixed_stores(CoreState& state);

/// Returns the name of a state at the end of code at this address.
StateName name_of(const CoreState& state, std::uint64_t end);

/// Schedules in memory that may be mapped from a file and contain anything: in the order in which a run used them,
/// since others use them in the same order, with a hash table of their indexes.
class ScheduleTable {
 public:
  ScheduleTable() = default;
  /// `memory` has a table of `bytes` bytes.
  ScheduleTable(const void* memory, std::uint64_t bytes);

  /// Returns the size of a table for this number of schedules; a multiple of 16.
  static std::uint64_t bytes_for(std::uint32_t schedules);
  /// Adds a schedule to a table under construction, in zeroed memory, with room for `limit` schedules. Its key must be
  /// new.
  static void add(void* memory, std::uint32_t limit, const Schedule& schedule);

  /// Returns null if the key is missing. Costs a comparison if it follows the key that was found before.
  const Schedule* find(std::uint64_t key);
  std::uint32_t size() const { return size_; }
  const Schedule& operator[](std::uint32_t i) const { return all_[i]; }

 private:
  struct Head {
    std::uint32_t limit, size, reserved[2];
  };
  static std::uint32_t slots_for(std::uint32_t schedules) { return schedules + schedules / 3 + 1; }
  static std::uint32_t first_slot(std::uint64_t key, std::uint32_t slots) {
    return static_cast<std::uint32_t>((key >> 32) * slots >> 32);
  }

  const Schedule* all_ = nullptr;
  const std::uint32_t* slots_ = nullptr;  // 1 + an index; 0: free
  std::uint32_t size_ = 0, slot_count_ = 0;
  std::uint32_t next_ = 0, after_jump_ = 0;  // the indexes that are expected next
};

/// Where a computation finds schedules of earlier runs, and puts new ones.
class ScheduleStore {
 public:
  /// Returns null if it has none.
  virtual const Schedule* find(std::uint64_t key) = 0;
  virtual void add(const Schedule& schedule) = 0;

 protected:
  ~ScheduleStore() = default;
};

}  // namespace tally::models
