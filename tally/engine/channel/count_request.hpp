/// How a program asks its engine what the calling thread has counted.
///
/// The program calls prctl(2) with `ask_option`, which no kernel knows and which has no effect without an engine. A
/// kernel answers EINVAL; an engine never passes the call on. The counts include everything that the thread executed up
/// to and including the `syscall` instruction, exactly.
///
///     prctl(ask_option, ask_version)                     → `asking_version` if an engine runs
///     prctl(ask_option, ask_totals, &totals, sizeof totals)   → 0, and a Totals; −EFAULT, −EINVAL
///     prctl(ask_option, ask_models, &models, sizeof models)   → 0, and an AskedModels: the simulated machine
///     prctl(ask_option, ask_values, &values, sizeof values)   → 0, and AskedValues, with the models up to date
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/channel.hpp"

namespace tally::channel {

inline constexpr uint64_t ask_option = 0x74616c79;  ///< "taly"

/// The question: the second argument.
enum Ask : uint64_t {
  ask_version = 0,
  ask_totals = 1,  ///< the third argument is the address of a Totals, the fourth its size
  ask_models = 2,  ///< the same for AskedModels
  ask_values = 3,  ///< the same for AskedValues
  ask_killed = 4,  ///< with Settings::fails_on_request: SIGKILL while this thread holds locks; the third is a HeldWhen
  ask_failed = 5,  ///< with Settings::fails_on_request: the engine fails; the third is a Failure
};

/// How the engine fails.
enum Failure : uint64_t {
  fails_by_fault,          ///< an instruction of the engine faults
  fails_by_check,          ///< a check of the engine fails
  fails_without_handlers,  ///< a fault that the kernel cannot deliver
};

/// The locks that the thread holds when it is killed.
enum HeldWhen : uint64_t {
  held_nothing,
  held_mappings,
  held_cache,
  held_code,
  held_threads,
  held_reserve,
  held_models,
  held_turn,    ///< the right to stop other threads
  held_others,  ///< the same, and the other threads are stopped
  held_all,
  held_limit
};

/// Raised when an answer changes. An engine answers −EINVAL to an unknown question.
inline constexpr int64_t asking_version = 3;

/// The simulated machine, bits of Model for which there was no memory, and Settings::mix.
struct AskedModels {
  Models models;
  uint64_t without;
  uint64_t mix;
};

/// What the thread has counted. Cost: the models process the pending records, at 10 ns for each access that missed a
/// first level; if cycles are requested, the core model may run too, as at marks.
using AskedValues = CountedValues;

}  // namespace tally::channel
