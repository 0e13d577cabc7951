// Formats the counts of regions of a program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/output/kinds/format.hpp"
#include "tally/output/result/regions_result.hpp"

namespace tally::output {

/// A format of the regions of one process.
struct RegionsFormat : Format {
  std::string (*write)(const result::ProgramRegions& program);
};

/// All formats, the table first.
std::span<const RegionsFormat> regions_formats();

/// The trust of an event's total: "exact", "model …", or why it is not reliable.
std::string trust_text(const RegionEvent& event);

/// The average per entry: "213.00"; "-" without entries or a count.
std::string per_entry_text(const RegionEvent& event, std::uint64_t entries);

/// "1,000"; "-" without a value.
std::string number_or_dash(const std::optional<std::int64_t>& value);

/// "1,000 entries, 2 dropped": the number of entries, and of those that are in no count.
std::string entries_text(const RegionResult& region);

/// One region as text: its name, its entries, and one line per event. `terminal`: columns of the terminal that shows
/// it; 0: no terminal.
std::string region_text(const RegionResult& region, std::size_t terminal = 0);

/// The regions of a process as text. `per_thread`: also the counts of each thread, in regions of several threads.
std::string regions_table(const result::ProgramRegions& program, std::size_t terminal = 0, bool per_thread = false);

/// One JSON object, documented in docs/reference/regions-json.md.
std::string regions_json(const result::ProgramRegions& program);

/// Rows under the header of `tally stat`'s CSV, documented in docs/reference/stat-csv.md.
std::string regions_csv(const result::ProgramRegions& program);

/// The fields of these rows.
std::vector<std::vector<std::string>> region_rows(const result::ProgramRegions& program, int run);

}  // namespace tally::output
