/// Client requests of valgrind.h, answered as valgrind answers them (channel::PartSettings::as_valgrind).
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Ends a call that answer_request() began, if the thread has returned from it: then its registers are those of the
/// request again. Returns whether it has.
bool end_requested_call(Thread* t);

/// The calls of a thread that ends are not returned from.
void forget_requested_calls(const Thread* t);
/// In the child of a fork, whose only thread is `t`.
void requested_calls_after_fork(const Thread* t);
/// Releases the lock of a thread that was killed.
void release_requested_calls_for_dead(u32 holder);

/// Answers a request, given by its six words: sets the thread's result, or lets it call a function, whose result is
/// that of the request. Other requests keep their default.
void answer_request(Thread* t, const u64 (&words)[6]);

}  // namespace tally::engine::guest
