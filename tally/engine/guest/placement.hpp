/// Addresses of new memory with Settings::repeatable. Where a kernel puts it depends on its version (the size of the
/// vdso's data, alignment for huge pages since Linux 6.7), and programs hash and sort addresses. So the engine chooses.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Chooses the highest address. Before any code of the program runs.
void placement_init();

/// Makes the system call in the thread's registers, which are the same afterwards. Chooses the address of mmap and of
/// mremap if the program leaves it to the kernel. Call it with the mappings lock.
s64 call_with_placement(Thread* t);

}  // namespace tally::engine::guest
