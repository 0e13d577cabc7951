/// What the engine counts of the instructions that a program executes, and sums of it.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// What an executed segment adds to. Every total of the engine is a sum of these.
enum Field : uint32_t {
  instructions,
  loads,        ///< element accesses read
  stores,       ///< element accesses written
  conditional,  ///< conditional branches executed, including `loop` and `jrcxz`
  taken,        ///< conditional branches taken
  direct_jumps,
  indirect_jumps,
  direct_calls,
  indirect_calls,
  returns,
  far,  ///< far transfers: `syscall`, `int n`, far jumps and returns

  // From here on: fields of which a plain instruction counts one (translate/decode.cpp, plain_field_of).
  prefetches,  ///< software prefetches; they are no loads
  field_count
};
inline constexpr uint32_t first_plain_field = prefetches;

/// What one execution of a segment adds. Kept small: a program has one for each segment of translated code.
/// A segment that ends in a conditional branch has `taken` +1; the segment after it, entered only when the branch was
/// not taken, has −1. So one counter per segment gives both outcomes. Where a segment counts for what comes after it,
/// an early exit from there takes back what did not run: it has a counter of its own.
struct SegmentVector {
  int16_t counts[3] = {};                               ///< instructions, loads, stores
  int8_t branches[first_plain_field - 3] = {};          ///< conditional … far
  int16_t plain[field_count - first_plain_field] = {};  ///< the rest

  /// Adds `n` executions of `v`.
  void add(const SegmentVector& v, int32_t n) {
    for (uint32_t i = 0; i < 3; i++) counts[i] = static_cast<int16_t>(counts[i] + n * v.counts[i]);
    for (uint32_t i = 0; i < sizeof branches; i++) branches[i] = static_cast<int8_t>(branches[i] + n * v.branches[i]);
    for (uint32_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
      plain[i] = static_cast<int16_t>(plain[i] + n * v.plain[i]);
  }
};

/// A sum over all fields. Signed: corrections may be negative for a while.
struct Totals {
  int64_t field[field_count] = {};

  /// Adds `n` executions of `v`.
  void add(const Totals& v, int64_t n = 1) {
    for (uint32_t i = 0; i < field_count; i++) add_to(i, v.field[i], n);
  }
  void add(const SegmentVector& v, int64_t n = 1) {
    for (uint32_t i = 0; i < 3; i++) add_to(i, v.counts[i], n);
    for (uint32_t i = 3; i < first_plain_field; i++) add_to(i, v.branches[i - 3], n);
    for (uint32_t i = first_plain_field; i < field_count; i++) add_to(i, v.plain[i - first_plain_field], n);
  }
  /// A program may overwrite what is added, so it may be too large for a sum: the sum is then some number.
  void add_to(uint32_t i, int64_t each, int64_t n) {
    field[i] =
        static_cast<int64_t>(static_cast<uint64_t>(field[i]) + static_cast<uint64_t>(each) * static_cast<uint64_t>(n));
  }
};

}  // namespace tally::channel
