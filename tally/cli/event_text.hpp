// Events as text for people, and as JSON (docs/reference/events.md).
#pragma once

#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/event/catalog.hpp"
#include "tally/event/explain.hpp"

namespace tally::cli {

/// An entry of the catalogue, and what comes of it here.
struct Offered {
  event::Entry entry;
  backend::Outlook outlook;
};

/// A table for each origin; what is absent stands after the rest, its reasons below.
std::string events_text(const std::vector<Offered>& offered);

/// The same for programs: schema tally-events/1.
std::string events_json(const std::vector<Offered>& offered);

/// An event, and what comes of it here.
struct Explained {
  event::Explanation explanation;
  backend::Outlook outlook;
};

/// One event explained, in lines of at most 80 columns where its words allow it.
std::string event_text(const Explained& explained);

/// The same for programs: schema tally-event/1.
std::string event_json(const std::vector<Explained>& explained);

}  // namespace tally::cli
