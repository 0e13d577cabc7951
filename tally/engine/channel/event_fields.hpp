/// Events that the engine counts for executed instructions, and sums of them.
///
/// Freestanding: included by channel.hpp.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// The kinds of events. Every total of the engine is a sum of these.
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

  // From here on: each field counts one kind of plain instruction (translate/decode.cpp, plain_field_of).
  prefetches,  ///< software prefetches; they are no loads
  field_count
};
inline constexpr uint32_t first_plain_field = prefetches;

/// What one execution of a segment adds. Small, because a program has one for each segment of translated code. A
/// segment that ends in a conditional branch adds 1 to `taken`; the next segment, which runs only if the branch was not
/// taken, adds −1. So one counter per segment counts both outcomes. If a segment also counts the segments after it, an
/// early exit from them subtracts what did not run; that exit has a counter of its own.
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

/// A sum over all fields. Signed: corrections can be negative for a while.
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
  /// Wraps around on overflow: a program may overwrite the values that are added.
  void add_to(uint32_t i, int64_t each, int64_t n) {
    field[i] =
        static_cast<int64_t>(static_cast<uint64_t>(field[i]) + static_cast<uint64_t>(each) * static_cast<uint64_t>(n));
  }
};

}  // namespace tally::channel
