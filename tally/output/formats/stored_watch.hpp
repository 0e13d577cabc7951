// Readings that `tally watch` recorded.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/watch.hpp"

namespace tally::result {

/// A recording: what the machine was, and its tables in order.
struct Recording {
  WatchHeader header;
  std::vector<WatchTable> tables;
  bool operator==(const Recording&) const = default;
};

/// Takes JSON Lines of tally-watch/1 (docs/reference/watch-json.md). A last line that was cut off is left out. Errors:
/// bad_usage, with the number of the line, for what is no such file.
Result<Recording> parse_recording(const std::string& text);

}  // namespace tally::result
