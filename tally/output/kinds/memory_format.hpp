// The result of `tally memory`: as text, CSV and JSON.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"
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

/// All formats, the default first.
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

}  // namespace tally::output
