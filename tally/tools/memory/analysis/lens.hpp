// LENS's number of regions, and the meaning of its stamps.
#pragma once

#include <cstdint>

namespace tally::memory {

/// How often LENS visits regions of R bytes: min(64 G/R, 2^20), times 8 up to 512 bytes, halved for each of R ≥ 16 K,
/// 32 K, 64 K, 128 K, 512 K; at least 1.
std::uint64_t lens_regions(std::uint64_t region_bytes);

/// A row that LENS and VANS write: stamps a before the writes, b after them, c after the reads.
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

/// Splits the total by the stamps: each pass's share of c − a.
LensTimes lens_times(const LensRow& row);

}  // namespace tally::memory
