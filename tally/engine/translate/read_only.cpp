#include "tally/engine/translate/read_only.hpp"

#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::translate {
namespace {

struct ReadOnly {
  u64 start, end;
  bool used;
};
constexpr u32 read_only_limit = 256;
LARGE ReadOnly read_only[read_only_limit];
u32 read_only_count;
bool pointers_dropped;  // some pointers that were used

}  // namespace

void forget_read_only(u64 start, u64 end) {
  for (u32 i = read_only_count; i-- > 0;) {
    if (read_only[i].start >= end || read_only[i].end <= start) continue;
    if (read_only[i].used) __atomic_store_n(&pointers_dropped, true, __ATOMIC_RELAXED);
    read_only[i] = read_only[--read_only_count];
  }
}

void forget_all_read_only() {
  read_only_count = 0;
  __atomic_store_n(&pointers_dropped, true, __ATOMIC_RELAXED);
}

void add_read_only(u64 start, u64 end) {
  // A garbage collector may protect many ranges. Those without used pointers are dropped.
  for (u32 i = read_only_count; read_only_count == read_only_limit && i-- > 0;)
    if (!read_only[i].used) read_only[i] = read_only[--read_only_count];
  if (read_only_count < read_only_limit) read_only[read_only_count++] = {start, end, false};
}

bool overlaps_read_only(u64 start, u64 end) {
  for (u32 i = 0; i < read_only_count; i++)
    if (read_only[i].start < end && read_only[i].end > start) return true;
  return false;
}

bool use_read_only(u64 address, u64 bytes) {
  ReadOnly* found = nullptr;
  for (u32 i = 0; i < read_only_count; i++)
    if (address >= read_only[i].start && address + bytes <= read_only[i].end) found = &read_only[i];
  if (found != nullptr) found->used = true;
  return found != nullptr;
}

bool pointers_changed() { return __atomic_exchange_n(&pointers_dropped, false, __ATOMIC_RELAXED); }

}  // namespace tally::engine::translate
