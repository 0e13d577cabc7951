/// The engine's descriptors in the program's table, above the program's limit: the channel, the image, the socket to
/// the command, and two for translations (persist/store.hpp). They are hidden from the program.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Sets whether the descriptors survive execve. By default every execve that is not announced closes them.
void keep_descriptors_over_exec(bool keep);

bool is_own_descriptor(u64 fd);

/// close_range(2) that skips the engine's descriptors.
s64 close_range_around(u64 first, u64 last, u64 flags);

/// getdents and getdents64: hides the engine's descriptors in a list of a process's descriptors.
s64 list_directory(Thread* t, u64 number);

}  // namespace tally::engine::guest
