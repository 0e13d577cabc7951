/// Calls on the descriptors of events that concern the kind of file. The kernel's events are files without a type,
/// which are no sockets and cannot be written.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Returns the error of a call that is for sockets only; not_of_pmu if the first argument is no event.
s64 refuse_socket_call(const Thread* t);

// These return what the kernel would have returned for an event instead of `r`, its result for a socket.

/// Of a call that writes to the first argument.
s64 written_to_event(const Thread* t, s64 r);
/// Of readlink(2) and readlinkat(2). Changes the text in the program's memory.
s64 read_link_of_event(const Thread* t, s64 r);
/// Of fstatfs(2). Changes the kind in the program's memory.
s64 file_system_of_event(const Thread* t, s64 r);
/// Of fstat(2), fstatat(2) and statx(2). Changes the mode in the program's memory.
void describe_event_file(const Thread* t);

}  // namespace tally::engine::guest
