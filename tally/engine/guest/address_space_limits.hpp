/// Limits on address space and data (RLIMIT_AS, RLIMIT_DATA) of the program, which exclude the engine's memory.
#pragma once
#include "tally/engine/records.hpp"

namespace tally::engine::guest {

/// Called once, when a program starts: it inherits limits.
void limits_init();

/// Handles prlimit64(2), and with it getrlimit and setrlimit. `set` and `old` are the program's arguments, 0 if absent.
/// The kernel's limits on memory are higher than those that a program sets, and are shown as it set them.
s64 emulate_limit(Thread* t, u64 process, u64 resource, u64 set, u64 old);

/// Makes the call that maps memory or moves the break, whose arguments are in the thread's registers, within the
/// program's limits. The caller holds the mappings lock.
s64 call_within_limits(Thread* t);
/// Whether this call failed with `r` because a limit that the program did not set itself includes the engine's memory.
bool is_refused_for_own_memory(const Thread* t, s64 r);

/// Sets the kernel's limits to the program's plus the engine's memory: the program continues natively.
void end_lifting_with_memory();
/// Sets them to the program's: it runs natively from the start. No other thread may exist.
void end_lifting_natively();
/// The same before an execve. If that fails, sets them as before; an ordinary user may not raise the hard limit again.
class ScopedNativeLimits {
 public:
  explicit ScopedNativeLimits(bool is_native);
  ~ScopedNativeLimits();
  ScopedNativeLimits(const ScopedNativeLimits&) = delete;
  ScopedNativeLimits& operator=(const ScopedNativeLimits&) = delete;

 private:
  const bool is_native_;
  u64 before_[2][2];
};

}  // namespace tally::engine::guest
