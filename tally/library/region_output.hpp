// Writes the regions of a process, at its end or on request.
#pragma once

#include <string>

#include "tally/core/base/result.hpp"
#include "tally/library/region_thread.hpp"

namespace tally::detail {

/// After the first call, this process's regions are written at its end if the environment requests it. `failed`: why
/// counters were not opened, or null; reported instead of the regions if none were opened.
void watch_end(const Error* failed);

/// Prints the first such error when the regions are written at the end.
void print_at_end(Error error);

/// Keeps the results of a Counters that is destroyed before the program ends, if they will be written.
void keep(Shared& shared);

/// Where the records of this process outlive it; null if no command runs this program, or if that is impossible. The
/// first call in a process creates it.
RecordsMemory* records_memory();

/// Stores there what the records of these counters mean, if that has not been done.
void describe(Shared& shared);

/// Call these around fork(2). The child drops what its parent kept, and leaves its parent's memory.
void lock_kept();
void unlock_kept(bool in_child);

/// Writes the regions of this process: `table` to standard error, any other name to a file, which must end in .json or
/// .csv; %p in it becomes the process ID. Errors: bad_usage for another name, cannot_write.
Result<void> write_regions(const std::string& place);

}  // namespace tally::detail
