/// The descriptors that the engine keeps in the program's table, above its limit: the channel, the image, the
/// socket to the command, and two for translations (persist/store.hpp). They are not the program's, and it does not see
/// them.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Closed by every execve that is not announced.
void keep_descriptors_over_exec(bool keep);

bool is_own_descriptor(u64 fd);

/// close_range(2) around them.
s64 close_range_around(u64 first, u64 last, u64 flags);

/// getdents and getdents64: a list of a process's descriptors does not show them.
s64 list_directory(Thread* t, u64 number);

}  // namespace tally::engine::guest
