// Settings of the models in the engine, and the counts that they produce.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/counting/backend/simulation.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/model_counts.hpp"

namespace tally::backend::engine {

/// Returns the settings of an engine that runs the needed models; all are off if none is needed.
channel::Models settings_of(const Simulation& simulation, const NeededModels& needed);

/// Returns the timings of the machine's core; all 0 if it has none.
channel::ModelCore core_of(const Simulation& simulation);

/// Returns the simulation for these settings, to explain counts: without titles, latencies and cores.
Simulation simulation_of(const channel::Models& settings);

/// Returns what is needed as bits of channel::Model.
std::uint32_t bits_of(const NeededModels& needed);

/// Whether these settings provide all that is needed.
bool provides(const channel::Models& settings, const NeededModels& needed);

/// Returns the caches for these settings: those that are on.
tally::models::HierarchyShape shape_of(const channel::Models& models);
/// Returns the TLBs for these settings.
tally::models::TlbShape tlbs_of(const channel::Models& models);

/// Adds `from` to `to`, value by value.
void add(channel::ModelValues& to, const channel::ModelValues& from);

/// Returns the cycles by cause: those of the core model, plus those of misses and mispredictions. Pure.
tally::models::CycleTimes cycles_by_cause(const channel::CoreValues& core, const channel::ModelValues& values,
                                          const Simulation& simulation);

/// Returns the value of an event of the core model (NeededModels::core): the cycles, those of one cause, or slots.
/// Pure.
std::int64_t cycles_of(event::Id id, const channel::CoreValues& core, const channel::ModelValues& values,
                       const Simulation& simulation);

/// Returns in words what the cycles consist of, how much of the executed code the core model does not support, what
/// delays it lacks if that matters, and how wrong the cycles of the model were where they were measured.
std::string describe_cycles(const channel::CoreValues& core, const channel::ModelValues& values,
                            const Simulation& simulation);

/// Returns a sentence on what was executed and not modelled; empty if nothing.
std::string describe_unmodelled(const channel::UnseenValues& unseen);

/// Returns the first value in which the two ways of simulating differ, with both values; nothing if they agree.
std::optional<std::string> difference(const channel::ModelValues& fast, const channel::ModelValues& plain);

}  // namespace tally::backend::engine
