/// The numbers of the engine's descriptors in the program's descriptor table. They are above the program's limit if
/// possible, and otherwise numbers that the program does not use. The engine renumbers its descriptors when the
/// program's numbers get close to them or when the program names one.
#pragma once
#include "tally/engine/inherited.hpp"

namespace tally::engine::guest {

/// Frees a number that the program is about to assign to a descriptor of its own (dup2, F_DUPFD). Returns false if an
/// engine descriptor has that number and cannot move.
bool free_number(Thread* t, u64 number);

/// Call it after a system call that may have created descriptors and that returned `result`. Returns true if the call
/// failed for lack of a number and a number is free now: repeat the call. Does not return if the program needs the last
/// available numbers: the program then continues natively from this call.
bool numbers_were_short(Thread* t, s64 result);

/// The same check after F_DUPFD, which searched from `lowest` and returned `result`.
bool number_was_skipped(Thread* t, u64 lowest, s64 result);

/// Handles a change of the program's limit on descriptors.
void number_limit_changed(Thread* t);

/// Gives the thread a descriptor table of its own, a copy of the calling thread's, as for a vfork child.
void has_own_numbers(Thread* t);
/// Disables renumbering because a process with other memory shares the table.
void numbers_are_shared();
/// The process makes a ring of io_uring(7), which can close descriptors without a further call.
void numbers_are_changed_by_rings();
/// Whether every change of this thread's descriptors is a system call of a thread with the same descriptors here.
bool numbers_are_followed(const Thread* t);
/// In the child of a fork: makes the calling thread's numbers those of the process.
void numbers_after_fork(Thread* t);

/// Closes the engine's descriptors because the process continues natively.
void close_own_descriptors();

/// Raises the limit on descriptors to at least this value, if possible, so that descriptors above the limit can be
/// created. The destructor restores the limit.
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
