// Results of other tools, as they print them: for pictures beside ours. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/memory.hpp"

namespace tally::memory {

/// A tool whose output is understood.
struct ForeignFormat {
  std::string_view name;  ///< "lat_mem_rd"
  bool (*looks)(std::string_view text);
  /// Errors: bad_usage, with the line that is none of the tool's.
  Result<result::Memory> (*read)(std::string_view text);
};

/// All of them.
std::span<const ForeignFormat> foreign_formats();

/// Whether a text is one of these tools' output.
bool is_foreign(std::string_view text);

/// What it says: curves as those of the task `curve`, cold reads and writes as those of `chase-read`, latencies under
/// load as those of `loaded`, nodes as maps. A curve gets the levels that our detector finds in it. Errors: bad_usage,
/// with the file's name and what is wrong.
Result<result::Memory> read_foreign(std::string_view text, const std::string& name);

// One line each in foreign.cpp, one file each beside it.
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
