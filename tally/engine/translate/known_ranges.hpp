/// A cache of the executable ranges in /proc/self/maps; unknown ranges are read from there. The caller must hold the
/// lock of lock_code() for everything here.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

struct Range {
  u64 start, end;
  bool writable;
};

/// Reserves the table. Called once.
void ranges_init();
/// Returns the range that contains `pc`, or null if it is unknown.
Range* find_range(u64 pc);
/// Whether any of [a, a + n) is known.
bool any_range(u64 a, u64 n);
/// Forgets what is known about [a, end).
void forget(u64 a, u64 end);
void forget_all_ranges();
/// Records that [a, end) is executable.
void add_range(u64 a, u64 end, bool writable);

}  // namespace tally::engine::translate
