/// Code pages that are absent until a thread of the process fills them (userfaultfd). A thread that reads such a page
/// sleeps in the kernel; it would sleep for ever if it held a lock that the filling thread waits for. Therefore a
/// thread touches the code at its pc before it takes a lock, and under a lock reads only pages that are present. If a
/// page was removed in between, other threads make the reader give up. It then uses what it has read, and code that it
/// cannot read is executed at its own address.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

/// Values of Thread::reads_code.
enum ReadsCode : u32 { reads_none, reads_code, gave_up_reading };

/// The process has a userfaultfd from now on.
void note_absent_code();
bool code_may_be_absent();

/// Sleeps until the code at the pc of `t` is present, or a signal arrives. The caller must not hold a lock.
void await_code(Thread* t);

/// Enclose code that reads program code under a lock.
inline void begin_reading(Thread* t) { t->reads_code = reads_code; }
inline void end_reading(Thread* t) { t->reads_code = reads_none; }

/// Like safe_copy and safe_compare, for code. They do not read absent pages, and nothing after the thread has given up.
u64 copy_code(void* to, u64 from, u64 n);
u64 compare_code(const void* ours, u64 theirs, u64 n);

/// A signal arrived while the thread was at `ip`. Returns where it continues; if it was reading code, it gives up.
u64 give_up_reading(Thread* t, u64 ip);

/// Makes other threads give up reading, because this thread has waited long for a lock.
void stop_readers();

}  // namespace tally::engine::translate
