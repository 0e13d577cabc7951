/// Calls by which a program hands its system calls to a filter or to a handler of its own. Either would meet the
/// engine's as well: a call that the kernel accepts is made natively, one that it refuses leaves nothing.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// seccomp(2) with these arguments, or what prctl(PR_SET_SECCOMP) makes of its own. Returns where nothing is confined.
s64 set_filter(Thread* t, u32 operation, u32 flags, u64 arguments);
s64 set_filter_by_prctl(Thread* t, u64 mode, u64 program);

/// prctl(PR_SET_SYSCALL_USER_DISPATCH). Returns where it is refused or switched off.
s64 set_dispatch(Thread* t, u64 mode, u64 start, u64 bytes, u64 selector);

}  // namespace tally::engine::guest
