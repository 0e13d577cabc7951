// What the engine counted of a thread or process, as counts of events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/models.hpp"
#include "tally/engine/channel/channel.hpp"

namespace tally::backend::engine {

/// Counts of one thread or process, and why they are not exact; an empty reason means that they are.
struct Tally {
  channel::Totals totals;
  std::string reason;
  channel::ModelValues models = {};
  std::uint64_t without = 0;  ///< bits of channel::Model: there was no memory for it
  channel::CoreValues core = {};
  bool core_is_elsewhere = false;  ///< of one of several threads: the core's figures of all stand at one of them
  channel::UnseenValues unseen = {};
};

/// The value of an event in the engine's totals, and in the models' where it is one of theirs; nothing for one that
/// neither counts. Pure.
std::optional<std::int64_t> value_of(event::Id id, const channel::Totals& totals,
                                     const channel::ModelValues& models = {});

/// The count of a hardware event. `what` may say in general why it is partial.
/// `simulation`: where modelled events come from; null: nowhere.
Count count_of(const event::Event& event, const Tally& tally, const Simulation* simulation = nullptr);

}  // namespace tally::backend::engine
