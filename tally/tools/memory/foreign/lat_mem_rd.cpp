// Reads lmbench's lat_mem_rd: "stride=64 after a quotation mark, then lines with a size in MiB and the ns of a load.
#include <cmath>
#include <optional>

#include "tally/core/base/parse_text.hpp"
#include "tally/tools/memory/foreign/foreign.hpp"
#include "tally/tools/memory/foreign/lines.hpp"

namespace tally::memory {
namespace {

constexpr std::string_view title = "\"stride=";

}  // namespace

bool looks_like_lat_mem_rd(std::string_view text) { return text.substr(0, 4096).find(title) != std::string_view::npos; }

Result<result::Memory> read_lat_mem_rd(std::string_view text) {
  result::Memory memory;
  const auto lines = lines_of(text);
  std::optional<double> stride;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with(title)) {
      stride = number_of(std::string_view(lines[i]).substr(title.size()));
      if (!stride || *stride < 1) return fail(wrong_line(i + 1, lines[i], "a stride"));
      continue;
    }
    const auto words = split_words(lines[i]);
    // Output of a shell or of the tool before the title.
    if (words.empty() || !stride) continue;
    const auto mib = words.size() == 2 ? number_of(words[0]) : std::nullopt;
    const auto ns = words.size() == 2 ? number_of(words[1]) : std::nullopt;
    if (!mib || !ns || *mib <= 0) return fail(wrong_line(i + 1, lines[i], "a size and a time"));
    // Sizes are printed with five decimals: 0.00049 is 512 bytes.
    const double words_of_8 = std::round(*mib * 1024 * 1024 / 8);
    auto point = foreign_point("curve", "load", 8 * words_of_8, ns);
    point.stride_bytes = static_cast<std::uint64_t>(*stride);
    point.count = point.region_bytes / point.stride_bytes;
    memory.points.push_back(std::move(point));
  }
  return memory;
}

}  // namespace tally::memory
