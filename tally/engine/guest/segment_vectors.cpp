#include "tally/engine/guest/segment_vectors.hpp"

#include <sys/mman.h>

#include "tally/engine/channel/run_time_counters.hpp"
#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {
namespace {

/// One range is for this process's vectors, the other one for a child's during its fork. Both are reserved at once,
/// because the program may set a limit on address space later.
struct {
  u64 at[2];
  u32 own;   // index of this process's range
  u32 area;  // the channel area that is mapped there
} ranges;

/// A range has the vectors, and after them the rows, if there are any.
u64 rows_bytes() { return settings().mix != 0 ? channel::mix_rows_bytes : 0; }
u64 range_bytes() { return channel::area_bytes + rows_bytes(); }
channel::SegmentVector* vectors_at(u32 index) { return reinterpret_cast<channel::SegmentVector*>(ranges.at[index]); }
channel::MixRow* rows_at(u32 index) {
  return rows_bytes() == 0 ? nullptr : reinterpret_cast<channel::MixRow*>(ranges.at[index] + channel::area_bytes);
}

/// Returns false without memory.
bool map(u32 index, u32 area) {
  for (u64& at : ranges.at)
    if (at == 0) at = reserve(range_bytes(), PROT_NONE);
  if (area == 0) return false;
  const u64 at = ranges.at[index];
  return map_channel(at, channel::area_bytes, channel::area_offset(area)) &&
         (rows_bytes() == 0 || map_channel(at + channel::area_bytes, rows_bytes(), channel::mix_rows_offset(area)));
}

void unmap(u32 index) {
  kernel(SYS_mmap, ranges.at[index], range_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1ull, 0);
  keep_from_core(ranges.at[index], range_bytes());
}

void use(u32 index, u32 area) {
  ranges.own = index;
  ranges.area = area;
  own_records.vectors = vectors_at(index);
  own_records.rows = rows_at(index);
}

/// Begins with the vectors and rows of what is known only at run time.
void write_run_time_vectors() {
  own_records.segments = channel::first_segment_of_code(own_records.settings);
  clear(own_records.vectors, own_records.segments * sizeof *own_records.vectors);
  if (own_records.rows != nullptr) {
    clear(own_records.rows, own_records.segments * sizeof *own_records.rows);
    for (u32 f = channel::first_mix_field; f < channel::field_count; f++)
      own_records.rows[channel::run_time_counter(f)].add_to(f, 1);
  }
  own_records.vectors[channel::dynamic_load].counts[channel::loads] = 1;
  own_records.vectors[channel::dynamic_store].counts[channel::stores] = 1;
  own_records.vectors[channel::dynamic_move].counts[channel::loads] =
      own_records.vectors[channel::dynamic_move].counts[channel::stores] = 1;
  own_records.vectors[channel::dynamic_compare].counts[channel::loads] = 2;
}

}  // namespace

bool vectors_init(u32 area) {
  if (!map(0, area)) return false;
  use(0, area);
  write_run_time_vectors();
  return true;
}

u32 vectors_area() { return ranges.area; }

bool vectors_copy(u32 area) {
  const u32 other = ranges.own ^ 1;
  if (!map(other, area)) return false;
  copy(vectors_at(other), own_records.vectors, own_records.segments * sizeof *own_records.vectors);
  if (own_records.rows != nullptr)
    copy(rows_at(other), own_records.rows, own_records.segments * sizeof *own_records.rows);
  return true;
}

void vectors_copied() { unmap(ranges.own ^ 1); }

void vectors_forked(u32 area) {
  use(ranges.own ^ 1, area);
  unmap(ranges.own ^ 1);
}

}  // namespace tally::engine::guest
