#include "tally/engine/translate/known_ranges.hpp"

namespace tally::engine::translate {
namespace {

constexpr u32 range_limit = 4096;
Range* ranges;
u32 range_count;

}  // namespace

void ranges_init() { ranges = reinterpret_cast<Range*>(reserve(range_limit * sizeof(Range), read_write)); }

void forget_all_ranges() { range_count = 0; }

bool any_range(u64 a, u64 n) {
  for (u32 i = 0; i < range_count; i++)
    if (ranges[i].start < a + n && ranges[i].end > a) return true;
  return false;
}

Range* find_range(u64 pc) {
  for (u32 i = 0; i < range_count; i++)
    if (pc - ranges[i].start < ranges[i].end - ranges[i].start) return &ranges[i];
  return nullptr;
}

void forget(u64 a, u64 end) {
  for (u32 i = 0; i < range_count; i++) {
    Range& r = ranges[i];
    if (r.end <= a || r.start >= end) continue;
    if (r.start < a && r.end > end && range_count < range_limit) {
      ranges[range_count++] = {end, r.end, r.writable};
      r.end = a;
    } else if (r.start < a) {
      r.end = a;
    } else if (r.end > end) {
      r.start = end;
    } else {
      r = ranges[--range_count];
      i--;
    }
  }
}

void add_range(u64 a, u64 end, bool writable) {
  forget(a, end);
  for (u32 i = 0; i < range_count; i++) {
    if (ranges[i].writable != writable) continue;
    if (ranges[i].end == a) {
      ranges[i].end = end;
      return;
    }
    if (ranges[i].start == end) {
      ranges[i].start = a;
      return;
    }
  }
  // If the table is full, forget half of it. Missing ranges are read from the kernel again.
  if (range_count == range_limit) range_count = range_limit / 2;
  ranges[range_count++] = {a, end, writable};
}

}  // namespace tally::engine::translate
