/// System calls that filter or dispatch system calls (seccomp, user dispatch), which would affect the engine's too. If
/// the kernel would accept the call, the program makes it natively; if it would refuse it, nothing changes.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Handles seccomp(2) with these arguments, or the equivalent prctl(PR_SET_SECCOMP). Returns only if the call restricts
/// nothing.
s64 set_filter(Thread* t, u32 operation, u32 flags, u64 arguments);
s64 set_filter_by_prctl(Thread* t, u64 mode, u64 program);

/// Handles prctl(PR_SET_SYSCALL_USER_DISPATCH). Returns only if the kernel refuses the call or the call disables
/// dispatch.
s64 set_dispatch(Thread* t, u64 mode, u64 start, u64 bytes, u64 selector);

}  // namespace tally::engine::guest
