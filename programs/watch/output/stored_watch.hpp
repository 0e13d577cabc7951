// Reads recordings of `tally watch`.
#pragma once

#include <string>
#include <vector>

#include "programs/watch/output/watch_result.hpp"
#include "tally/core/base/result.hpp"

namespace tally::result {

/// A recording: the description of the machine, and its tables in order.
struct Recording {
  WatchHeader header;
  std::vector<WatchTable> tables;
  bool operator==(const Recording&) const = default;
};

/// Reads JSON Lines of tally-watch/1 (docs/reference/watch-json.md). Ignores a last line that was cut off. Errors:
/// bad_usage with the line number for other text.
Result<Recording> parse_recording(const std::string& text);

}  // namespace tally::result
