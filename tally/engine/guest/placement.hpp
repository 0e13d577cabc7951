/// Addresses of new memory with Settings::repeatable. Where a kernel puts it depends on its version (the size of the
/// vdso's data, alignment for huge pages since Linux 6.7), and programs hash and sort addresses. So the engine suggests
/// one.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Chooses the highest address. Before any code of the program runs.
void placement_init();

/// Make mmap and mremap, whose arguments are in the thread's registers.
s64 map_placed(Thread* t);
s64 remap_placed(Thread* t);

}  // namespace tally::engine::guest
