/// The command's descriptors that the engine uses, by their numbers in the program's descriptor table.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Returns the number of one of the command's descriptors in the calling thread's table.
u64 inherited(channel::Inherited which);
/// Opens a file of the command's /proc, such as "self/maps", for reading. Returns the descriptor or a negative errno. A
/// program with another root or mount namespace may have no /proc of its own.
s64 open_own(const char* name);
/// In the calling thread's table, the descriptors are now numbered from `first` on.
void set_inherited(u32 first);

/// From now on thread `t` has a descriptor table of its own, a copy of the calling thread's.
void inherited_of_its_own(Thread* t);

}  // namespace tally::engine
