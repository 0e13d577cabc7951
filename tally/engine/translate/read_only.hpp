/// Memory that the program made read-only, mostly tables through which libraries call one another. Pointers that were
/// read from it stay valid until the range changes.
///
/// The caller must hold the lock of exec_regions.cpp for everything here, unless noted otherwise.
#pragma once
#include "tally/engine/base.hpp"

namespace tally::engine::translate {

void add_read_only(u64 start, u64 end);
void forget_read_only(u64 start, u64 end);
void forget_all_read_only();
bool overlaps_read_only(u64 start, u64 end);
/// Whether these bytes are in such a range. If so, marks the range as used.
bool use_read_only(u64 address, u64 bytes);

}  // namespace tally::engine::translate
