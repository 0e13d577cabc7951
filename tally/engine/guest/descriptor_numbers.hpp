/// Which numbers the engine's descriptors have in the program's table: above its limit where they can be there, else
/// such as it does not use. Where the program comes near, or names one of them, they move.
#pragma once
#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {

/// A number that the program is about to give to a descriptor of its own (dup2, F_DUPFD). False where the engine's,
/// which has it, cannot be another.
bool free_number(Thread* t, u64 number);

/// After a system call that may have made descriptors; it returned `result`. True: it failed for want of a number that
/// is free now, and is to be made once more. May not return: where the program needs the last numbers that there are
/// it goes on natively, from this call on.
bool numbers_were_short(Thread* t, s64 result);

/// After F_DUPFD from `lowest` on: the same, for what it returned.
bool number_was_skipped(Thread* t, u64 lowest, s64 result);

/// The program has changed its limit on descriptors.
void number_limit_changed(Thread* t);

/// The thread has a table of its own from now on, a copy of the calling thread's: as a vfork child.
void has_own_numbers(Thread* t);
/// Other memory shares the table: nothing moves any more.
void numbers_are_shared();
/// In the child of a fork: what the calling thread's numbers were are the process's.
void numbers_after_fork(Thread* t);

/// The process goes on natively: the numbers are the program's.
void give_numbers_up();

/// While it lives the limit on descriptors is no lower than this, if that can be: descriptors above it can be made.
class RaisedNumberLimit {
 public:
  explicit RaisedNumberLimit(u64 least);
  ~RaisedNumberLimit();
  RaisedNumberLimit(const RaisedNumberLimit&) = delete;
  RaisedNumberLimit& operator=(const RaisedNumberLimit&) = delete;

 private:
  u64 before_[2];
  bool changed_ = false;
};

}  // namespace tally::engine::guest
