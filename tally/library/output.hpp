// Where a program's regions go by themselves, and when it says so.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/library/thread.hpp"

namespace tally::detail {

/// From the first call on, this process's regions are written when it ends, where the environment asks for it.
/// `failed`: why counters were not opened, told in their place where no others were; may be null.
void watch_end(const Error* failed);

/// Keeps the results of a Counters that ends before the program does, where they are to be written.
void keep(Shared& shared);

/// Around a fork(2): what its parent kept is not the child's.
void lock_kept();
void unlock_kept(bool in_child);

/// Writes the regions of this process: `table` is standard error, else a file by the end of its name, .json or .csv;
/// %p in it stands for the process's number. Errors: bad_usage for another name, cannot_write.
Result<void> write_regions(const std::string& place);

}  // namespace tally::detail
