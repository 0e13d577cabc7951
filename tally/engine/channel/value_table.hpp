/// The model counts of a thread by instruction: rows of values in the order of their first use, so that the memory that
/// is touched is in proportion to them, and a table of their numbers.
///
/// Freestanding, like channel.hpp.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/hash.hpp"

namespace tally::channel {

/// An area with one row for each instruction: its site, and one value for each of LocatedValues. A zeroed area has no
/// rows. Engines and workers may add rows and values at the same time, if no two add to the same value. Whoever is
/// killed leaves a row without values at most.
class ValueTable {
 public:
  ValueTable() = default;
  /// `area`: null if there is none. `values`: LocatedValues::count.
  ValueTable(void* area, uint32_t values)
      : area_(static_cast<uint8_t*>(area)),
        words_(values + 1),
        limit_(static_cast<uint32_t>((area_bytes - rows_at) / row_bytes(values))) {
    if (limit_ > most_rows) limit_ = most_rows;
  }

  /// Returns the values of an instruction (code_site(), not 0). Returns null if the area is full: its counts are then
  /// in no row.
  uint64_t* at(uint64_t site) {
    if (area_ == nullptr) return nullptr;
    uint32_t own = 0;  // 1 + the number of a row that no slot has yet
    for (uint32_t tries = 0, i = first_slot(site); tries < slots; tries++, i = (i + 1) % slots) {
      uint32_t* const slot = reinterpret_cast<uint32_t*>(area_ + slots_at) + i;
      uint32_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
      if (found == 0) {
        if (own == 0 && (own = add(site)) == 0) return nullptr;
        if (__atomic_compare_exchange_n(slot, &found, own, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
          return row(own - 1) + 1;
      }
      if (found > limit_) return nullptr;  // the program has written here
      if (row(found - 1)[0] == site) return row(found - 1) + 1;
    }
    return nullptr;
  }

  /// Where the rows of an area begin, the size of each, and how many there are at most. The first word of an area is
  /// the number of rows that were used.
  static constexpr uint32_t slots = 1u << 19, most_rows = slots / 4 * 3;
  static constexpr uint64_t slots_at = 64, rows_at = slots_at + slots * sizeof(uint32_t);
  static constexpr uint64_t row_bytes(uint32_t values) { return (values + 1) * sizeof(uint64_t); }

 private:
  /// Neighbouring code has neighbouring slots.
  static uint32_t first_slot(uint64_t site) {
    constexpr uint32_t group = 64;
    return hash_below(site / (4 * group), slots / group) * group + static_cast<uint32_t>(site / 4 % group);
  }
  uint32_t add(uint64_t site) {
    uint32_t* const size = reinterpret_cast<uint32_t*>(area_);
    if (__atomic_load_n(size, __ATOMIC_RELAXED) >= limit_) return 0;
    const uint32_t number = __atomic_fetch_add(size, 1, __ATOMIC_RELAXED);
    if (number >= limit_) return 0;
    row(number)[0] = site;
    return number + 1;
  }
  uint64_t* row(uint32_t number) const { return reinterpret_cast<uint64_t*>(area_ + rows_at) + uint64_t{number} * words_; }

  uint8_t* area_ = nullptr;
  uint32_t words_ = 1, limit_ = 0;
};

}  // namespace tally::channel
