// What engines wrote into the channel, as results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/backend/sim/models.hpp"
#include "tally/backend/sim/run.hpp"
#include "tally/backend/sim/snapshot.hpp"

namespace tally::backend::sim {

/// Counts of one thread or process, and why they are not exact; an empty reason means that they are.
struct Tally {
  channel::Totals totals;
  std::string reason;
  channel::ModelValues models = {};
  std::uint64_t without = 0;  ///< bits of channel::Model: there was no memory for it
  channel::CoreValues core = {};
  channel::UnseenValues unseen = {};
};

/// What is simulated in a run.
struct Modelling {
  std::optional<Simulation> simulation = {};  ///< nothing: no model is asked
  Needed needed = {};
  channel::Models settings = {};
};

/// The value of an event in the engine's totals; nothing for one that the engine does not count. Pure.
std::optional<std::int64_t> value_of(event::Id id, const channel::Totals& totals);

/// The count of a hardware event. `what` may say in general why it is partial.
/// `simulation`: where modelled events come from; null: nowhere.
Count count_of(const event::Event& event, const Tally& tally, const Simulation* simulation = nullptr);

/// What will come of an event where all goes well.
Outlook outlook_of(const event::Event& event, const Simulation* simulation = nullptr);

/// The count of one of the kernel's own events under the engine, by its counter, while the program runs.
Count software_while_running(const event::Event& event, const Figures& figures);

/// Words for the bits of channel::Partial; empty for none.
std::string reasons_of(std::uint32_t partial);

/// All bits that there are words for.
std::uint32_t known_reasons();

/// The words of every bit, and of what the records themselves show.
std::vector<std::string> all_reasons();

/// Everything that was counted in the window: fills counts, processes and notices of an outcome.
void harvest(const Request& request, const Execution& execution, const Channel& shared, const Modelling& modelling,
             const Window& window, Outcome& outcome);

}  // namespace tally::backend::sim
