// What models counted in the engine, and what they are told to be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/counting/backend/simulation.hpp"
#include "tally/engine/channel/channel.hpp"
#include "tally/engine/channel/models.hpp"

namespace tally::backend::engine {

/// The settings of an engine that simulates what is needed; nothing is on where nothing is.
channel::Models settings_of(const Simulation& simulation, const Needed& needed);

/// The timings of the machine's core; nothing where it has none.
channel::ModelCore core_of(const Simulation& simulation);

/// What such settings simulate, as far as a count of theirs must be explained: no titles, latencies or cores.
Simulation simulation_of(const channel::Models& settings);

/// What is needed, in bits of channel::Model.
std::uint32_t bits_of(const Needed& needed);

/// Whether they simulate all that is needed.
bool provides(const channel::Models& settings, const Needed& needed);

/// The caches that such settings stand for: those that are on.
tally::models::HierarchyShape shape_of(const channel::Models& models);
/// The same of the TLBs.
tally::models::TlbShape tlbs_of(const channel::Models& models);

/// `to` + `from`, number by number.
void add(channel::ModelValues& to, const channel::ModelValues& from);

/// Cycles: those of the core model, and what misses and wrong predictions add; translations only where the precision
/// has them, whether they are simulated for other events or not. Pure.
std::int64_t cycles_of(const channel::CoreValues& core, const channel::ModelValues& values,
                       const Simulation& simulation);

/// What cycles are made of, and how much of what ran the core model does not know, in words.
std::string made_of(const channel::CoreValues& core, const Simulation& simulation);

/// The sentence that says what was executed and not simulated; empty where nothing was.
std::string what_no_model_saw(const channel::UnseenValues& unseen);

/// The first number in which the two ways of simulating differ, with both; nothing where they agree.
std::optional<std::string> difference(const channel::ModelValues& fast, const channel::ModelValues& plain);

}  // namespace tally::backend::engine
