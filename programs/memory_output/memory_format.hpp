// The result of `tally memory`: as text, CSV, JSON and a page.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::output {

/// A format of results of `tally memory`.
struct MemoryFormat : Format {
  /// `terminal`: columns of the terminal that shows it; 0: no terminal.
  std::string (*write)(const result::Memory& memory, std::size_t terminal);
  std::span<const std::string_view> only_tasks = {};  ///< the tasks whose results it supports; empty: any
};

/// Errors: bad_usage if the format does not support results of this task.
Result<void> check_task(const MemoryFormat& format, std::string_view task);

/// All formats, the default first. The registry of tally/output reads the files: these rows have no readers.
std::span<const MemoryFormat> memory_formats();

/// Levels, TLBs, controls and verdict; the measured points for tasks without levels.
std::string memory_table(const result::Memory& memory, std::size_t terminal = 0);

/// One row per measured point, RFC 4180 (docs/reference/memory-csv.md).
std::string memory_csv(const result::Memory& memory);

/// The passes of `chase-write`, `chase-read` and `chase-raw`, one row per region and block, in LENS's columns and two
/// more. Totals are nanoseconds and stamps ticks of the time-stamp counter, both from the medians.
std::string memory_lens_csv(const result::Memory& memory);

/// Everything as one JSON object, tally-memory/1 (docs/reference/memory-json.md).
std::string memory_json(const result::Memory& memory);

/// The page of one result.
std::string memory_html(const result::Memory& memory);

/// Its section of a page of several results.
PageSection page_section(const result::Memory& memory);

/// A result, and its name on a page of several.
struct NamedMemory {
  std::string name;
  const result::Memory* memory;
};

/// Latency against size of several results in one chart; empty if fewer than two have a curve.
std::string memory_comparison(const std::vector<NamedMemory>& results);

}  // namespace tally::output
