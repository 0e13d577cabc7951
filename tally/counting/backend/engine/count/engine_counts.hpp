// Converts the engine's totals of a thread or process to counts of events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/engine_models.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// The totals of one thread or process, and why they are not exact; an empty reason means that they are.
struct CollectedTotals {
  channel::Totals totals;
  std::string reason;
  channel::ModelValues models = {};
  std::uint64_t without = 0;  ///< bits of channel::Model: no memory for it
  channel::CoreValues core = {};
  bool core_is_elsewhere = false;  ///< of one of several threads: one thread has the core model's values of all
  channel::UnseenValues unseen = {};
};

/// Returns the value of an event in the engine's totals, or in the models' values if it is a modelled event; nothing if
/// neither has it. Pure.
std::optional<std::int64_t> value_of(event::Id id, const channel::Totals& totals,
                                     const channel::ModelValues& models = {});

/// Whether the engine counts the event only with Settings::mix. Pure.
bool needs_mix(event::Id id);

/// Which amounts an event consists of that some instructions do not reveal: their numbers are in
/// channel::unknown_operations and channel::unknown_bytes.
struct Amounts {
  bool operations = false, bytes = false;
  bool any() const { return operations || bytes; }
};
/// Pure.
Amounts amounts_of(event::Id id);

/// Returns the count of a hardware event. `simulation`: the source of modelled events; null: none.
Count count_of(const event::Event& event, const CollectedTotals& tally, const Simulation* simulation = nullptr);

}  // namespace tally::backend::engine
