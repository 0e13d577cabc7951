// Regions of a program's own code: results in, text out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/regions.hpp"

namespace tally::report {

/// A format of regions of one process.
struct RegionsFormat : Format {
  std::string (*write)(const result::ProgramRegions& program);
};

/// All of them, the table first.
std::span<const RegionsFormat> regions_formats();

/// "exact", "model …", or why it is not to be trusted: of the event's total.
std::string trust_text(const RegionEvent& event);

/// "213.00": of an entry on average; "-" where there is none.
std::string per_entry_text(const RegionEvent& event, std::uint64_t entries);

/// "1,000 entries, 2 dropped": how often it was entered, and what is in no count.
std::string entries_text(const RegionResult& region);

/// One region for people: what it is called, how often it was entered, a line for each event.
/// `terminal`: columns of the terminal that shows it; 0: none does.
std::string region_text(const RegionResult& region, std::size_t terminal = 0);

/// The regions of a process for people.
std::string regions_table(const result::ProgramRegions& program, std::size_t terminal = 0);

/// One JSON object, documented in docs/reference/regions-json.md.
std::string regions_json(const result::ProgramRegions& program);

/// Rows under the header of `tally stat`'s CSV, documented in docs/reference/stat-csv.md.
std::string regions_csv(const result::ProgramRegions& program);

/// The fields of those rows.
std::vector<std::vector<std::string>> region_rows(const result::ProgramRegions& program, int run);

}  // namespace tally::report
