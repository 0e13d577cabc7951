#include "tally/engine/guest/vectors.hpp"

#include <sys/mman.h>

#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {
namespace {

/// In one place are those of this process, in the other those of a child while it is forked. Both are taken at once:
/// later there may be a limit on address space.
struct {
  u64 at[2];
  u32 own;   // which of them is this process's
  u32 area;  // that is mapped there
} places;

/// Null without memory.
channel::SegmentVector* map(u32 place, u32 area) {
  for (u64& at : places.at)
    if (at == 0) at = reserve(channel::area_bytes, PROT_NONE);
  if (area == 0) return nullptr;
  const s64 r = kernel(SYS_mmap, places.at[place], channel::area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       inherited(channel::inherited_channel), channel::area_offset(area));
  if (failed(r)) return nullptr;
  keep_from_core(static_cast<u64>(r), channel::area_bytes);
  return reinterpret_cast<channel::SegmentVector*>(r);
}

void unmap(u32 place) {
  kernel(SYS_mmap, places.at[place], channel::area_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1ull, 0);
  keep_from_core(places.at[place], channel::area_bytes);
}

}  // namespace

bool vectors_init(u32 area) {
  own_records.vectors = map(0, area);
  places.own = 0;
  places.area = area;
  return own_records.vectors != nullptr;
}

u32 vectors_area() { return places.area; }

bool vectors_copy(u32 area) {
  channel::SegmentVector* const copied = map(places.own ^ 1, area);
  if (copied == nullptr) return false;
  copy(copied, own_records.vectors, own_records.segments * sizeof *copied);
  return true;
}

void vectors_copied() { unmap(places.own ^ 1); }

void vectors_forked(u32 area) {
  places.own ^= 1;
  places.area = area;
  own_records.vectors = reinterpret_cast<channel::SegmentVector*>(places.at[places.own]);
  unmap(places.own ^ 1);
}

}  // namespace tally::engine::guest
