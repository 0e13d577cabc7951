/// Where a system call writes in the program's memory, as far as its arguments tell. The kernel cannot write into a
/// page that is protected because code was translated from it, and what a call that failed half-way did is done: so
/// pages are made writable before.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

using EachOutput = void (*)(void* to, u64 address, u64 bytes);

/// Calls `each` with every piece of memory that the kernel may write in the system call of `t`, whose registers are in
/// its `gpr`, or may be about to change the mapping of. Reads what describes nested ones. False where it may write
/// elsewhere too; then `each` was called with what lies after anything that looks like an address.
bool visit_outputs(const Thread& t, void* to, EachOutput each);

template <class Each>
bool each_output(const Thread& t, Each&& each) {
  return visit_outputs(t, &each, [](void* to, u64 address, u64 bytes) { (*static_cast<Each*>(to))(address, bytes); });
}

/// Whether the kernel may write into this page in the name of `t`, which is in a system call or will end.
bool may_write(const Thread& t, u64 page);

/// Before the system call of `t`, which has said that it is in one: it can write where it wants to. False where that is
/// not known.
bool open_outputs(const Thread& t);

}  // namespace tally::engine::guest
