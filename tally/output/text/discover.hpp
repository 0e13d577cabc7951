// The answer of `tally discover`: for people, for programs, and as a table of events.
#pragma once

#include <span>
#include <string>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/discover.hpp"

namespace tally::report {

/// A format of answers of `tally discover`. `all`: verdicts of single payloads as well, in the table.
/// `terminal`: columns of the terminal that shows it; 0: none does.
struct DiscoveryFormat : Format {
  std::string (*write)(const result::Discovery& discovery, bool all, std::size_t terminal);
};

/// All of them, the default first.
std::span<const DiscoveryFormat> discovery_formats();

/// perf's raw code: "r1c2" for event C2H, unit mask 01H.
std::string raw_code(std::uint64_t code);

/// What an event counts, in words: "loads", "2 stores + branches"; its class where it has no name.
std::string what_it_counts(const result::Discovered& event);

/// One row for each event that is not dead, and what cannot be told apart. `all`: verdicts of single payloads as well.
std::string discover_text(const result::Discovery& discovery, bool all, std::size_t terminal = 0);

/// One JSON object in one line, tally-discovery/2 (docs/reference/discover.md).
std::string discover_json(const result::Discovery& discovery);

/// The named events in the vendors' form (perfmon), for --event-table; their provenance is "discovered".
std::string discover_table(const result::Discovery& discovery);

}  // namespace tally::report
