/// The command's descriptors that the engine uses, by their numbers in the program's descriptor table.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine {

/// Returns the number of one of the command's descriptors in the calling thread's table.
u64 inherited(channel::Inherited which);
/// Maps a part of the channel at an address of the engine, outside core files. Returns false without memory.
bool map_channel(u64 at, u64 bytes, u64 offset);
/// Writes to the channel, by mapping it: a program's limit of file sizes (RLIMIT_FSIZE) applies to system calls that
/// write. Returns false without memory.
bool write_to_channel(const void* from, u64 bytes, u64 offset);
/// Opens a file of the command's /proc, such as "self/maps", for reading. Returns the descriptor or a negative errno. A
/// program with another root or mount namespace may have no /proc of its own.
s64 open_own(const char* name);
/// In the calling thread's table, the descriptors are now numbered from `first` on.
void set_inherited(u32 first);

/// From now on thread `t` has a descriptor table of its own, a copy of the calling thread's.
void inherited_of_its_own(Thread* t);

}  // namespace tally::engine
