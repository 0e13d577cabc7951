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

  // From here on: what instructions did, counted only with Settings::mix (translate/instruction_mix.hpp).
  fp_operations,  ///< a field for each Precision and FpWidth: fp_field()
  fp_operations_x87 = fp_operations + 12,
  fp_operations_bf16,
  fp_instructions,  ///< the same for instructions
  fp_instructions_x87 = fp_instructions + 12,
  fp_instructions_bf16,
  fp_lanes,  ///< operations of packed instructions if all lanes were active
  fma_instructions,
  fp_divisions,
  fp_comparisons,
  fp_conversions,
  integer_divisions,
  vector_128,
  vector_256,
  vector_512,
  integer_vector_64,
  integer_vector_128,
  integer_vector_256,
  integer_vector_512,
  bytes_loaded,
  bytes_stored,
  non_temporal_stores,
  gathered_elements,
  scattered_elements,
  string_elements,
  locked_instructions,
  state_saves,
  aes_instructions,
  sha_instructions,
  crc32_instructions,
  carryless_multiplications,
  fences,
  nops,
  register_moves,
  system_calls,
  tile_products,
  unknown_operations,  ///< instructions whose floating-point operations are not known
  unknown_bytes,       ///< instructions that access an unknown number of bytes
  field_count
};
inline constexpr uint32_t first_plain_field = prefetches, first_mix_field = fp_operations;

enum Precision : uint32_t { half_precision, single_precision, double_precision };
enum FpWidth : uint32_t { scalar_width, width_128, width_256, width_512 };

/// Returns the field of a precision and a width, from the first one of such a group: fp_operations or fp_instructions.
constexpr uint32_t fp_field(uint32_t first, uint32_t precision, uint32_t width) {
  return first + 4 * precision + width;
}

/// What one execution of a segment adds. Small, because a program has one for each segment of translated code. A
/// segment that ends in a conditional branch adds 1 to `taken`; the next segment, which runs only if the branch was not
/// taken, adds −1. So one counter per segment counts both outcomes. If a segment also counts the segments after it, an
/// early exit from them subtracts what did not run; that exit has a counter of its own.
struct SegmentVector {
  int16_t counts[3] = {};                                   ///< instructions, loads, stores
  int8_t branches[first_plain_field - 3] = {};              ///< conditional … far
  int16_t plain[first_mix_field - first_plain_field] = {};  ///< the rest
  static_assert(sizeof branches <= 8, "Totals::add reads them as a word");

  /// Adds `n` executions of `v`.
  void add(const SegmentVector& v, int32_t n) {
    for (uint32_t i = 0; i < 3; i++) counts[i] = static_cast<int16_t>(counts[i] + n * v.counts[i]);
    for (uint32_t i = 0; i < sizeof branches; i++) branches[i] = static_cast<int8_t>(branches[i] + n * v.branches[i]);
    for (uint32_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
      plain[i] = static_cast<int16_t>(plain[i] + n * v.plain[i]);
  }
};

/// The rest of what one execution of a segment adds, with Settings::mix. No instruction adds more than 264 (`enter`),
/// and no segment has more than a hundred instructions.
struct MixRow {
  int16_t counts[field_count - first_mix_field] = {};

  void add_to(uint32_t field, int32_t n) {
    int16_t& count = counts[field - first_mix_field];
    count = static_cast<int16_t>(count + n);
  }
  void add(const MixRow& row, int32_t n) {
    for (uint32_t i = first_mix_field; i < field_count; i++) add_to(i, n * row.counts[i - first_mix_field]);
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
    // Few segments have more than two kinds of branches.
    uint64_t branches = 0;
    __builtin_memcpy(&branches, v.branches, sizeof v.branches);
    while (branches != 0) {
      const auto i = static_cast<uint32_t>(__builtin_ctzll(branches)) / 8;
      add_to(3 + i, v.branches[i], n);
      branches &= ~(uint64_t{0xff} << 8 * i);
    }
    for (uint32_t i = first_plain_field; i < first_mix_field; i++)
      if (v.plain[i - first_plain_field] != 0) add_to(i, v.plain[i - first_plain_field], n);
  }
  void add(const MixRow& row, int64_t n = 1) {
    for (uint32_t i = first_mix_field; i < field_count; i++) add_to(i, row.counts[i - first_mix_field], n);
  }
  /// Wraps around on overflow: a program may overwrite the values that are added.
  void add_to(uint32_t i, int64_t each, int64_t n) {
    field[i] =
        static_cast<int64_t>(static_cast<uint64_t>(field[i]) + static_cast<uint64_t>(each) * static_cast<uint64_t>(n));
  }
};

}  // namespace tally::channel
