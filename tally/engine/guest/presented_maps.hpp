/// Reading the process's own list of mappings, /proc/self/maps or a similar file, or the sum of their sizes
/// (/proc/self/status, statm, stat), under any name. The descriptor is the kernel's; only what is read from it differs.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Records it if the program opened its own list of mappings, with this descriptor and these flags.
void note_opened_file(u64 fd, u64 flags);

/// The program may have changed its mappings: a list that it is reading goes on with those of now.
void note_changed_mappings();

/// Makes read, pread64, readv, preadv or preadv2, whose arguments are in the thread's registers, if the descriptor is
/// such a list. Otherwise returns not_a_list.
inline constexpr s64 not_a_list = INT64_MIN;
s64 read_presented_maps(Thread* t);

}  // namespace tally::engine::guest
