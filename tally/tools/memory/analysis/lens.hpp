// LENS's terms: how many regions a row stands for, and what its stamps mean.
#pragma once

#include <cstdint>

namespace tally::memory {

/// How often LENS visits regions of this size: min(64 G/R, 2^20), 8 times that up to 512 bytes, halved for each of
/// R ≥ 16 K, 32 K, 64 K, 128 K, 512 K; at least 1.
std::uint64_t lens_regions(std::uint64_t region_bytes);

/// A row as LENS and VANS write it: stamps a before the writes, b after them, c after the reads.
struct LensRow {
  double region_bytes = 0;
  double regions = 0;   ///< "count"
  double total_ns = 0;  ///< of both passes, c − a
  double start = 0;     ///< a, in ticks of any unit
  double middle = 0;    ///< b
  double end = 0;       ///< c
};

/// ns per 64-byte line.
struct LensTimes {
  double write_ns = 0;
  double read_ns = 0;
};

/// The share of the total that each pass took, by the stamps: the denominator is c − a for both.
LensTimes lens_times(const LensRow& row);

}  // namespace tally::memory
