/// How a program asks the engine that it runs under what it has counted of the asking thread.
///
/// By a system call that no kernel knows and that does nothing without an engine: prctl(2) with `ask_option`. A kernel
/// answers EINVAL; an engine never hands the call on. What is counted is everything that the thread executed up to and
/// with the `syscall` instruction, to the instruction.
///
///     prctl(ask_option, ask_version)                     → `asking_version` where there is an engine
///     prctl(ask_option, ask_totals, &totals, sizeof totals)   → 0, and a Totals; −EFAULT, −EINVAL
///
/// Freestanding: no C library, no other room.
#pragma once
#include <stdint.h>

namespace tally::channel {

inline constexpr uint64_t ask_option = 0x74616c79;  ///< "taly"

/// What is asked: the second argument.
enum Ask : uint64_t {
  ask_version = 0,
  ask_totals = 1,  ///< the third argument is where a Totals goes, the fourth its size
};

/// Raised when an answer changes: its layout is that of channel::Totals.
inline constexpr int64_t asking_version = 1;

}  // namespace tally::channel
