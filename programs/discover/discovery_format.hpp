// The result of `tally discover`: as text, as JSON, and as an event table.
#pragma once

#include <span>
#include <string>

#include "programs/discovery/discovered_event.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/result/discovery_result.hpp"

namespace tally::output {

/// A format of results of `tally discover`. `all`: also list the verdict of each payload, in the table. `terminal`:
/// columns of the terminal that shows it; 0: no terminal.
struct DiscoveryFormat : Format {
  std::string (*write)(const result::Discovery& discovery, bool all, std::size_t terminal);
};

/// All formats, the default first.
std::span<const DiscoveryFormat> discovery_formats();

/// One row per event that is not dead, and the events that cannot be distinguished. `all`: also the verdict of each
/// payload.
std::string discover_text(const result::Discovery& discovery, bool all, std::size_t terminal = 0);

/// One JSON object on one line, tally-discovery/2 (docs/reference/discover.md).
std::string discover_json(const result::Discovery& discovery);

/// The named events in the vendors' format (perfmon), for --event-table; their provenance is "discovered".
std::string discover_table(const result::Discovery& discovery);

}  // namespace tally::output
