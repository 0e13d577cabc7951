#include "tally/engine/guest/own_ranges.hpp"

#include "tally/engine/engine_addresses.hpp"

namespace tally::engine::guest {

u64 OwnRanges::end_of(u64 address) const {
  if (address >= records_at && address < own_space_end()) return own_space_end();
  for (u32 i = 0; i < arena_count_; i++)
    if (address >= arenas_[i].start && address < arenas_[i].end) return arenas_[i].end;
  return 0;
}

u64 OwnRanges::next(u64 from, u64 end) const {
  if (from < records_at && records_at < end) end = records_at;
  for (u32 i = 0; i < arena_count_; i++)
    if (from < arenas_[i].start && arenas_[i].start < end) end = arenas_[i].start;
  return end;
}

u64 OwnRanges::bytes_in(u64 from, u64 end) const {
  u64 bytes = 0;
  while (from < end) {
    const u64 own = end_of(from), to = own != 0 ? (own < end ? own : end) : next(from, end);
    if (own != 0) bytes += to - from;
    from = to;
  }
  return bytes;
}

}  // namespace tally::engine::guest
