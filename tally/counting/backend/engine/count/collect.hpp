// Collects the results that engines wrote into the channel.
#pragma once

#include <optional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/engine_counts.hpp"
#include "tally/counting/backend/engine/count/snapshot.hpp"
#include "tally/counting/backend/engine/engine_models.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend::engine {

/// The models of a run.
struct Modelling {
  std::optional<Simulation> simulation = {};  ///< nothing: no model is used
  NeededModels needed = {};
  channel::Models settings = {};
};

/// Returns the best that a count of the event can be.
Outlook outlook_of(const event::Event& event, const Simulation* simulation = nullptr);

/// Returns the count of a kernel event under the engine from its counter, while the program runs.
Count software_while_running(const event::Event& event, const RunStatistics& statistics);

/// Collects everything that was counted in this time: sets the counts, processes and notices of an outcome, and
/// returns the regions of its programs.
std::vector<result::ProgramRegions> collect(const Order& order, const Execution& execution, const Channel& shared,
                                            const Modelling& modelling, const CountedTime& counted_time,
                                            Outcome& outcome);

}  // namespace tally::backend::engine
