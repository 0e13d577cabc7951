/// The model counts of a thread by instruction: rows of values in the order of their first use, so that the memory that
/// is touched is in proportion to them, and a table of their numbers.
///
/// Freestanding, like channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/hash.hpp"

namespace tally::channel {

/// Some values of an instruction: of LocatedValues, those from `group` × 8 on.
struct ValueRow {
  static constexpr uint32_t values = 8;
  uint64_t site;  ///< code_site(); 0: no row
  uint64_t group;
  uint64_t value[values];
};

/// An area of rows, of which an instruction has one for each group of values that are not all zero. A zeroed area has
/// none. Engines and workers may add rows and values at the same time, if no two add to the same value. Whoever is
/// killed leaves a row without values at most.
class ValueTable {
 public:
  ValueTable() = default;
  explicit ValueTable(void* area) : area_(static_cast<uint8_t*>(area)) {}

  /// Returns a group of values of an instruction (code_site(), not 0). Returns null if the area is full: these values
  /// are then in no row.
  uint64_t* at(uint64_t site, uint64_t group) {
    if (area_ == nullptr) return nullptr;
    uint32_t own = 0;  // the number of a row that no slot has yet; 0: none
    for (uint32_t tries = 0, i = first_slot(site, group); tries < slots; tries++, i = (i + 1) % slots) {
      uint32_t* const slot = reinterpret_cast<uint32_t*>(area_ + slots_at) + i;
      uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
      if (number == 0) {
        if (own == 0) own = add(site, group);
        if (own == 0) return nullptr;
        if (__atomic_compare_exchange_n(slot, &number, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
          return row(own).value;
      }
      if (number > limit) return nullptr;  // the program has written here
      if (row(number).site == site && row(number).group == group) return row(number).value;
    }
    return nullptr;
  }

  /// Where the rows of an area begin, and how many there are at most. The first word of an area is the number of rows
  /// that were used.
  static constexpr uint32_t slots = 1u << 19;
  static constexpr uint64_t slots_at = 64, rows_at = slots_at + slots * sizeof(uint32_t);
  static constexpr uint32_t limit = (area_bytes - rows_at) / sizeof(ValueRow);
  static_assert(limit < slots / 5 * 4);

 private:
  /// Neighbouring code has neighbouring slots.
  static uint32_t first_slot(uint64_t site, uint64_t group) {
    constexpr uint32_t near = 64;
    return hash_below(site / (4 * near) * 8 + group, slots / near) * near + static_cast<uint32_t>(site / 4 % near);
  }
  uint32_t add(uint64_t site, uint64_t group) {
    uint32_t* const size = reinterpret_cast<uint32_t*>(area_);
    if (__atomic_load_n(size, __ATOMIC_RELAXED) >= limit) return 0;
    const uint32_t number = __atomic_add_fetch(size, 1, __ATOMIC_RELAXED);
    if (number > limit) return 0;
    row(number).group = group;
    row(number).site = site;
    return number;
  }
  /// `number`: from 1 on.
  ValueRow& row(uint32_t number) const { return reinterpret_cast<ValueRow*>(area_ + rows_at)[number - 1]; }

  uint8_t* area_ = nullptr;
};

}  // namespace tally::channel
