// Runs tally's own code on a larger stack if the limit (`ulimit -s`) is too low.
#pragma once

#include <functional>

namespace tally::linux {

/// Calls `work` and returns its result. If this process has a stack limit below 8 MiB, `work` runs on an allocated
/// stack of that size, and threads that start later get such stacks, too. The limit itself stays, because executed
/// programs inherit it. Without memory for a stack, `work` runs on the current one.
int on_large_stack(const std::function<int()>& work);

}  // namespace tally::linux
