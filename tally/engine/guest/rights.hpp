/// System calls that may reduce the rights of the process. A process with fewer rights must not write translations that
/// more trusted programs will execute; one that changes nothing keeps them.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Whether setuid(2) or a similar call with IDs in its registers would set each ID to its current value. make, for
/// example, starts programs by a posix_spawn that sets the user ID to itself. False for all other calls.
bool keeps_ids(const Thread& t);

/// Handles setgroups(2) and capset(2).
s64 set_groups(Thread* t);
s64 set_capabilities(Thread* t);

/// Whether unshare(2) with these flags creates a namespace.
bool makes_namespace(u64 flags);

/// Whether prctl(2) with these arguments would reduce the rights of the process.
bool loses_rights_by(u32 option, u64 argument);

}  // namespace tally::engine::guest
