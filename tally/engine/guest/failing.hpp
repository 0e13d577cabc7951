/// The engine's own failures: what is left for the command, and those that tests ask for
/// (tally/engine/channel/asking.hpp).
#pragma once
#include "tally/engine/context.hpp"

namespace tally::engine::guest {

/// Ends the process by SIGKILL while the thread holds what a channel::HeldWhen says. -EINVAL where there is no such.
s64 be_killed(Thread* t, u64 held);

/// Fails as a channel::Failure says. -EINVAL where there is no such.
s64 be_failed(Thread* t, u64 failure);

/// Ends the process with exit code 125; the command finds why in the channel. `c`, `info`: of a fault, or null.
[[noreturn]] void end_by_failure(const char* what, u64 value, Context* c, const u8* info);

}  // namespace tally::engine::guest
