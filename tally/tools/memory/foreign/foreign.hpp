// Reads the output of other tools, for pictures next to tally's own results. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// A tool whose output can be read.
struct ForeignFormat {
  std::string_view name;  ///< "lat_mem_rd"
  bool (*looks)(std::string_view text);
  /// Errors: bad_usage, with the line that is not the tool's.
  Result<result::Memory> (*read)(std::string_view text);
};

/// All formats.
std::span<const ForeignFormat> foreign_formats();

/// Whether a text is the output of one of these tools.
bool is_foreign(std::string_view text);

/// Parses a text: curves become the task `curve`, cold reads and writes `chase-read`, latencies under load `loaded`,
/// and nodes become maps. A curve gets the levels that tally finds in it. Errors: bad_usage, with the file's name and
/// the reason.
Result<result::Memory> read_foreign(std::string_view text, const std::string& name);

// One pair per format in foreign.cpp; each is implemented in a file of its own.
bool looks_like_lat_mem_rd(std::string_view text);
Result<result::Memory> read_lat_mem_rd(std::string_view text);
bool looks_like_multichase(std::string_view text);
Result<result::Memory> read_multichase(std::string_view text);
bool looks_like_mlc(std::string_view text);
Result<result::Memory> read_mlc(std::string_view text);
bool looks_like_lens_log(std::string_view text);
Result<result::Memory> read_lens_log(std::string_view text);
bool looks_like_lens_csv(std::string_view text);
Result<result::Memory> read_lens_csv(std::string_view text);

}  // namespace tally::memory
