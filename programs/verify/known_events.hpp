// Events whose counts follow from the program.
#pragma once

#include <cstdint>
#include <span>

#include "programs/workload/workload.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::verify {

/// How a PMU counts an event. Source: Weaver, Terpstra, Moore, "Non-determinism and overcount on modern hardware
/// performance counter implementations" (ISPASS 2013, extended in 2021).
enum class Nature {
  immune,    ///< neither page faults nor interrupts add to it
  additive,  ///< each fault and interrupt adds one: its return counts as an instruction and a branch of the program
  accesses,  ///< processors count instructions or micro-operations: only the engine has an expected value
};

struct KnownEvent {
  event::Id id;
  Nature nature;

  std::int64_t value(const workload::Counts& counts) const;
};

/// In the order in which they get counters: first the events that are compared with each other in one run.
std::span<const KnownEvent> known_events();

/// The entry of an event; null if the program does not determine its count.
const KnownEvent* known(event::Id id);

/// Events without a known answer that PMUs or models count.
std::span<const event::Id> speculative_events();

}  // namespace tally::verify
