// Events whose count follows from the program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tally/hardware/event/event.hpp"
#include "tally/hardware/workload/workload.hpp"

namespace tally::verify {

/// What a PMU does to a count. Source: Weaver, Terpstra, Moore, "Non-determinism and overcount on modern hardware
/// performance counter implementations" (ISPASS 2013, extended in 2021).
enum class Nature {
  immune,    ///< neither page faults nor interrupts add to it
  additive,  ///< the return from each of them is an instruction, and a branch, of the program's
  accesses,  ///< some processors count instructions, others micro-operations: no expectation but an engine's
};

struct Known {
  event::Id id;
  Nature nature;
  std::int64_t (*value)(const workload::Counts& counts);
};

/// In the order in which counters are given to them: those first that are compared with each other in one run.
std::span<const Known> known_events();

/// Nothing where the program does not determine the count.
const Known* known(event::Id id);

/// What there is no answer for, but a PMU or a model counts.
std::span<const event::Id> speculative_events();

}  // namespace tally::verify
