/// Code that is not there until a thread of the process fills its page (userfaultfd). Who reads it sleeps in the kernel
/// until then; and while it holds a lock that the filling thread waits for, that would be for ever. So a thread touches
/// the code that it comes to before it takes a lock, and reads what is there under one. Where a page has gone between,
/// others make it give up. It makes do with what it has, and what cannot be read is executed where it stands.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::translate {

/// Thread::reads_code.
enum ReadsCode : u32 { reads_none, reads_code, gave_up_reading };

/// The process has a userfaultfd from now on.
void note_absent_code();
bool code_may_be_absent();

/// Sleeps until the code at the pc of `t` is there, which holds no lock; or until a signal comes.
void await_code(Thread* t);

/// Around what reads code under a lock.
inline void begin_reading(Thread* t) { t->reads_code = reads_code; }
inline void end_reading(Thread* t) { t->reads_code = reads_none; }

/// As safe_copy and safe_compare, of code: pages that are not there are not read, and none once it has given up.
u64 copy_code(void* to, u64 from, u64 n);
u64 compare_code(const void* ours, u64 theirs, u64 n);

/// A signal came while the thread was at this instruction: where it goes on, if it was reading code.
u64 give_up_reading(Thread* t, u64 ip);

/// Makes others give up: this thread has waited long for a lock.
void hurry_readers();

}  // namespace tally::engine::translate
