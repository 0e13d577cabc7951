/// The program memory that a system call writes, as far as its arguments show. The kernel cannot write to a page that
/// the engine protected because it translated code from it, and a call that failed halfway cannot be undone. So the
/// engine makes these pages writable before the call.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

using EachOutput = void (*)(void* to, u64 address, u64 bytes);

/// Calls `each` with every memory range that the kernel may write, or whose mapping it may change, in the system call
/// of `t`. The registers of the call are in `gpr` of `t`. Reads the structures that describe nested ranges. Returns
/// false if the call may write elsewhere too; `each` then also received the memory after everything that resembles an
/// address.
bool visit_outputs(const Thread& t, void* to, EachOutput each);

template <class Each>
bool each_output(const Thread& t, Each&& each) {
  return visit_outputs(t, &each, [](void* to, u64 address, u64 bytes) { (*static_cast<Each*>(to))(address, bytes); });
}

/// Whether the kernel may write to this page on behalf of `t`, which is in a system call or about to end.
bool may_write(const Thread& t, u64 page);

/// Makes the memory writable that the system call of `t` may write. `t` has already announced that it is in a call.
/// Returns false if that memory is not known.
bool open_outputs(const Thread& t);

}  // namespace tally::engine::guest
