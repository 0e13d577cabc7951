// Reads multichase -v, runs of several sizes one after the other: "total_memory = BYTES (…)", and at the end of each
// run a line with one number, the ns of a load. Without -v the output contains no size.
#include <optional>

#include "tally/core/base/parse_text.hpp"
#include "tally/tools/memory/foreign/foreign.hpp"
#include "tally/tools/memory/foreign/lines.hpp"

namespace tally::memory {
namespace {

// The value of a setting: "stride = 64" → 64.
std::optional<double> setting(const std::vector<std::string>& words, std::string_view name) {
  return words.size() >= 3 && words[0] == name && words[1] == "=" ? number_of(words[2]) : std::nullopt;
}

}  // namespace

bool looks_like_multichase(std::string_view text) {
  return text.substr(0, 4096).find("total_memory = ") != std::string_view::npos;
}

Result<result::Memory> read_multichase(std::string_view text) {
  result::Memory memory;
  std::optional<result::MemoryPoint> run;
  const auto finish = [&] {
    if (run && run->ns) memory.points.push_back(*run);
    run.reset();
  };
  for (const std::string& line : lines_of(text)) {
    const auto words = split_words(line);
    if (const auto bytes = setting(words, "total_memory"); bytes && *bytes >= 1) {
      finish();
      run = foreign_point("curve", "load", *bytes, std::nullopt);
    } else if (!run) {
      continue;
    } else if (const auto stride = setting(words, "stride"); stride && *stride >= 1) {
      run->stride_bytes = static_cast<std::uint64_t>(*stride);
      run->count = run->region_bytes / run->stride_bytes;
    } else if (words.size() == 1) {
      if (const auto ns = number_of(words[0])) run->ns = ns;  // the last number of a run is its result
    }
  }
  finish();
  if (memory.points.empty()) {
    return fail(Code::bad_usage, "no run ends with a time",
                "run multichase -v -m SIZE for each size, and append its outputs to one file");
  }
  return memory;
}

}  // namespace tally::memory
