/// The sizes of the process's mappings in /proc/self/status, statm and stat, and the signals that it handles or
/// ignores, as they would be without the engine. Sizes of present memory (VmRSS) include the engine's.
#pragma once
#include "tally/engine/guest/mapping_list.hpp"

namespace tally::engine::guest {

/// Reads the text of an open file of this form. Returns false if that is not possible, or if it exceeds 16 KB. The
/// caller must hold cache_lock and lock_code().
bool read_sizes(u64 fd, ListForm form, MappingList& list);

}  // namespace tally::engine::guest
