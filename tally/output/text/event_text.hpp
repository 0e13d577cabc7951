// Events as text, and as JSON (docs/reference/events.md).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/core/count/source.hpp"
#include "tally/core/count/trust.hpp"
#include "tally/hardware/event/catalog.hpp"
#include "tally/hardware/event/explain_event.hpp"
#include "tally/output/result/provenance.hpp"

namespace tally::output {

/// How an event can be counted on this machine.
struct EventTrust {
  Trust trust = Trust::absent;
  std::string reason;  ///< why it is absent or partial
  CountSource source;  ///< the PMU or backend that counts it; none if it is absent
};

/// An entry of the catalogue, and how it can be counted on this machine.
struct OfferedEvent {
  event::Entry entry;
  EventTrust outlook;
};

/// A table for each origin; absent events come last, with their reasons below. `terminal`: columns of the terminal; 0:
/// no terminal, so nothing is cut.
std::string events_text(const std::vector<OfferedEvent>& offered, std::size_t terminal = 0);

/// The same for programs: schema tally-events/1.
std::string events_json(const std::vector<OfferedEvent>& offered, const result::Provenance& provenance);

/// An explained event, and how it can be counted on this machine.
struct Explained {
  event::Explanation explanation;
  EventTrust outlook;
};

/// One event explained, in lines of at most 80 columns if its words allow it.
std::string event_text(const Explained& explained);

/// The same for programs: schema tally-event/1.
std::string event_json(const std::vector<Explained>& explained, const result::Provenance& provenance);

}  // namespace tally::output
