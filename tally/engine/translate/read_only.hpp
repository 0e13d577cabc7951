/// Memory that the program made read-only, most of it tables by which libraries find one another: pointers that were
/// read there hold until the range is noted again.
///
/// Everything here wants the lock of exec_regions.cpp, unless it says otherwise.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

void add_read_only(u64 start, u64 end);
void forget_read_only(u64 start, u64 end);
void forget_all_read_only();
bool overlaps_read_only(u64 start, u64 end);
/// Whether these bytes lie in such a range; then somebody relies on it.
bool use_read_only(u64 address, u64 bytes);

}  // namespace tally::engine::translate
