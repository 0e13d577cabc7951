// What engines wrote into the channel, as results.
#pragma once

#include <optional>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/counts.hpp"
#include "tally/counting/backend/engine/count/snapshot.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/counting/backend/engine/models.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// What is simulated in a run.
struct Modelling {
  std::optional<Simulation> simulation = {};  ///< nothing: no model is asked
  Needed needed = {};
  channel::Models settings = {};
};

/// What will come of an event where all goes well.
Outlook outlook_of(const event::Event& event, const Simulation* simulation = nullptr);

/// The count of one of the kernel's own events under the engine, by its counter, while the program runs.
Count software_while_running(const event::Event& event, const RunStatistics& statistics);

/// Everything that was counted in the window: fills counts, processes and notices of an outcome, and returns the
/// regions of its programs.
std::vector<result::ProgramRegions> collect(const Job& job, const Execution& execution, const Channel& shared,
                                            const Modelling& modelling, const Window& window, Outcome& outcome);

}  // namespace tally::backend::engine
