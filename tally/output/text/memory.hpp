// The result of `tally memory`: for people, and for programs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::report {

/// A format of results of `tally memory`.
struct MemoryFormat : Format {
  /// `terminal`: columns of the terminal that shows it; 0: none does.
  std::string (*write)(const result::Memory& memory, std::size_t terminal);
  std::string_view only_task = {};  ///< the one task whose results it can hold; empty: any
};

/// All of them, the default first.
std::span<const MemoryFormat> memory_formats();

/// Levels, translation buffers, controls and verdict; the points of a task that has no levels.
std::string memory_table(const result::Memory& memory, std::size_t terminal = 0);

/// One row for each point, RFC 4180 (docs/reference/memory-csv.md).
std::string memory_csv(const result::Memory& memory);

/// Writes and cold reads of `chase-read`, a row for each region and block, with the columns of LENS's own: stamps are
/// nanoseconds, from the medians.
std::string memory_lens_csv(const result::Memory& memory);

/// Everything as one JSON object, tally-memory/1 (docs/reference/memory-json.md).
std::string memory_json(const result::Memory& memory);

}  // namespace tally::report
