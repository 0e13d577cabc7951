// --event-table: names of events from a file.
#pragma once

#include <optional>
#include <string>

#include "tally/cli/page.hpp"
#include "tally/core/base/result.hpp"
#include "tally/hardware/event/explain.hpp"
#include "tally/hardware/event/given.hpp"

namespace tally::cli {

/// A table, where the user gave one; it must live as long as the sources that name it.
struct EventTable {
  std::string file;
  std::optional<event::GivenTable> table = {};

  /// Reads the file, where one is named. Errors: bad_usage.
  Result<void> load();
  event::Sources sources() const;
};

void add_event_table_option(Page& page, EventTable& table);

/// Adds what the table says of an event: what it is, where it counts, errata.
void add_given(event::Explanation& explanation, const EventTable& table);

}  // namespace tally::cli
