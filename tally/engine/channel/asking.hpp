/// How a program asks the engine that it runs under what it has counted of the asking thread.
///
/// By a system call that no kernel knows and that does nothing without an engine: prctl(2) with `ask_option`. A kernel
/// answers EINVAL; an engine never hands the call on. What is counted is everything that the thread executed up to and
/// with the `syscall` instruction, to the instruction.
///
///     prctl(ask_option, ask_version)                     → `asking_version` where there is an engine
///     prctl(ask_option, ask_totals, &totals, sizeof totals)   → 0, and a Totals; −EFAULT, −EINVAL
///     prctl(ask_option, ask_models, &models, sizeof models)   → 0, and an AskedModels: what is simulated
///     prctl(ask_option, ask_values, &values, sizeof values)   → 0, and AskedValues: models have seen as much by then
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/channel.hpp"

namespace tally::channel {

inline constexpr uint64_t ask_option = 0x74616c79;  ///< "taly"

/// What is asked: the second argument.
enum Ask : uint64_t {
  ask_version = 0,
  ask_totals = 1,  ///< the third argument is where a Totals goes, the fourth its size
  ask_models = 2,  ///< the same with AskedModels
  ask_values = 3,  ///< and with AskedValues
  ask_killed = 4,  ///< with Settings::fails_on_request: SIGKILL while this thread holds locks; the third is a HeldWhen
  ask_failed = 5,  ///< the same: the engine fails; the third is a Failure
};

/// How the engine fails.
enum Failure : uint64_t {
  fails_by_fault,          ///< an instruction of the engine's faults
  fails_by_check,          ///< a check of the engine's own
  fails_without_handlers,  ///< a fault that the kernel can tell nobody
};

/// What the thread holds when it is killed.
enum HeldWhen : uint64_t {
  held_nothing,
  held_mappings,
  held_cache,
  held_code,
  held_threads,
  held_reserve,
  held_models,
  held_floor,   ///< the right to stop others
  held_others,  ///< and they are stopped
  held_all,
  held_limit
};

/// Raised when an answer changes; an engine that does not know a question says −EINVAL.
inline constexpr int64_t asking_version = 2;

/// What is simulated, and bits of Model that there was no memory for.
struct AskedModels {
  Models models;
  uint64_t without;
};

/// What the thread has counted. Cost: what it noted for the models is played, 10 ns an access that missed a first
/// level; where cycles are asked for the core model may be asked, too, as at marks.
struct AskedValues {
  Totals totals;
  ModelValues models;
  int64_t cycles;  ///< with what was missed; 0 where they are not asked for
};

}  // namespace tally::channel
