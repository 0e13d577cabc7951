/// Failures of the engine: what it leaves for the command, and the failures that tests request
/// (tally/engine/channel/count_request.hpp).
#pragma once
#include "tally/engine/context.hpp"

namespace tally::engine::guest {

/// Kills the process by SIGKILL while the thread holds the lock that a channel::HeldWhen names. Returns -EINVAL for an
/// unknown value.
s64 kill_as_requested(Thread* t, u64 held);

/// Fails in the way that a channel::Failure names. Returns -EINVAL for an unknown value.
s64 fail_as_requested(Thread* t, u64 failure);

/// Ends the process with exit code 125. The command finds the reason in the channel. `c`, `info`: of a fault, or null.
[[noreturn]] void end_by_failure(const char* what, u64 value, Context* c, const u8* info);

/// With Settings::strict: ends the process with exit code 125 because it would continue natively.
[[noreturn]] void end_strictly(Thread* t, channel::Partial why);

}  // namespace tally::engine::guest
