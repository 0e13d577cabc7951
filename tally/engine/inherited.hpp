/// The descriptors that the engine has of the command, by their numbers in the program's table.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// One of the command's descriptors, in the table of the calling thread.
u64 inherited(channel::Inherited which);
/// Opens a file of the command's /proc, such as "self/maps", to read it; a negative error number where that fails. A
/// program that has another root, or another mount namespace, may have no /proc of its own.
s64 open_own(const char* name);
/// The first of them has this number from now on, in that table.
void set_inherited(u32 first);

/// The thread has a table of its own from now on, a copy of the calling thread's.
void inherited_of_its_own(Thread* t);

}  // namespace tally::engine
