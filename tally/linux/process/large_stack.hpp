// Running tally's own code where the limit on stacks (`ulimit -s`) is too low for it.
#pragma once

#include <functional>

namespace tally::linux {

/// Calls `work` and returns what it returns. Where this process has a limit below 8 MiB, `work` runs on a stack of that
/// size in memory of its own, and threads that are started later get such stacks too. The limit itself stays: programs
/// that are executed inherit it. Where there is no memory for a stack, `work` runs on the one that is there.
int on_large_stack(const std::function<int()>& work);

}  // namespace tally::linux
