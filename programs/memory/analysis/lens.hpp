// The meaning of LENS's stamps.
#pragma once

namespace tally::memory {

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
