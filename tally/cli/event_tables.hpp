// --event-table: event names from a file.
#pragma once

#include <optional>
#include <string>

#include "tally/cli/commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/hardware/event/explain_event.hpp"
#include "tally/hardware/event/given.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::cli {

/// The event table, if the user gave one. It must outlive the sources that refer to it.
struct EventTable {
  std::string file;
  std::optional<event::GivenTable> table = {};

  /// Reads the file, if one is given. Errors: bad_usage.
  Result<void> load();
  event::Sources sources() const;
};

void add_event_table_option(Page& page, EventTable& table);

/// Adds what the table contains about an event: description, counters, errata.
void add_table_entry(event::Explanation& explanation, const EventTable& table);

}  // namespace tally::cli
