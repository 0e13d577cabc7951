#include "tally/engine/guest/segment_vectors.hpp"

#include <sys/mman.h>

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

/// Returns null without memory.
channel::SegmentVector* map(u32 index, u32 area) {
  for (u64& at : ranges.at)
    if (at == 0) at = reserve(channel::area_bytes, PROT_NONE);
  if (area == 0) return nullptr;
  const s64 r = kernel(SYS_mmap, ranges.at[index], channel::area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       inherited(channel::inherited_channel), channel::area_offset(area));
  if (failed(r)) return nullptr;
  keep_from_core(static_cast<u64>(r), channel::area_bytes);
  return reinterpret_cast<channel::SegmentVector*>(r);
}

void unmap(u32 index) {
  kernel(SYS_mmap, ranges.at[index], channel::area_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1ull, 0);
  keep_from_core(ranges.at[index], channel::area_bytes);
}

}  // namespace

bool vectors_init(u32 area) {
  own_records.vectors = map(0, area);
  ranges.own = 0;
  ranges.area = area;
  return own_records.vectors != nullptr;
}

u32 vectors_area() { return ranges.area; }

bool vectors_copy(u32 area) {
  channel::SegmentVector* const copied = map(ranges.own ^ 1, area);
  if (copied == nullptr) return false;
  copy(copied, own_records.vectors, own_records.segments * sizeof *copied);
  return true;
}

void vectors_copied() { unmap(ranges.own ^ 1); }

void vectors_forked(u32 area) {
  ranges.own ^= 1;
  ranges.area = area;
  own_records.vectors = reinterpret_cast<channel::SegmentVector*>(ranges.at[ranges.own]);
  unmap(ranges.own ^ 1);
}

}  // namespace tally::engine::guest
