/// Failures that tests ask for (tally/channel/asking.hpp).
#pragma once
#include "tally/engine/thread.hpp"

namespace tally::engine::guest {

/// Ends the process by SIGKILL while the thread holds what a channel::HeldWhen says. -EINVAL where there is no such.
s64 be_killed(Thread* t, u64 held);

}  // namespace tally::engine::guest
