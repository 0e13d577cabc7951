/// Executable memory as far as it is known; truth is the kernel's, read from /proc/self/maps where nothing is known.
/// Wants lock_code.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

struct Range {
  u64 start, end;
  bool writable;
};

/// Reserves the table, once.
void ranges_init();
/// The range that `pc` lies in; null where nothing is known.
Range* find_range(u64 pc);
/// Whether something is known of [a, a + n).
bool any_range(u64 a, u64 n);
/// Nothing is known of [a, end) any more.
void forget(u64 a, u64 end);
void forget_all_ranges();
/// [a, end) is executable.
void add_range(u64 a, u64 end, bool writable);

}  // namespace tally::engine::translate
