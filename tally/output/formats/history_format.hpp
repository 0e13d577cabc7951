// Formats of `tally history`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/history.hpp"

namespace tally::report {

/// A format of histories. `terminal`: columns; 0: the output is not a terminal.
struct HistoryFormat : Format {
  std::string (*write)(const result::History& history, const result::Provenance& provenance, std::size_t terminal);
};

/// All formats, the default first.
std::span<const HistoryFormat> history_formats();

/// The stored results, one row each.
std::string history_list(const result::History& history, std::size_t terminal);

}  // namespace tally::report
