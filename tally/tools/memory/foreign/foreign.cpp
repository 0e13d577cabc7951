#include "tally/tools/memory/foreign/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "tally/core/base/text.hpp"
#include "tally/tools/memory/analysis/findings.hpp"
#include "tally/tools/memory/foreign/lines.hpp"

namespace tally::memory {
namespace {

constexpr std::array formats{
    ForeignFormat{"lmbench's lat_mem_rd", looks_like_lat_mem_rd, read_lat_mem_rd},
    ForeignFormat{"multichase", looks_like_multichase, read_multichase},
    ForeignFormat{"Intel MLC", looks_like_mlc, read_mlc},
    ForeignFormat{"LENS's log", looks_like_lens_log, read_lens_log},
    ForeignFormat{"rows of LENS and VANS", looks_like_lens_csv, read_lens_csv},
};

// Adds the levels that tally finds in the other tool's curve.
void add_levels(result::Memory& memory) {
  Curve curve;
  for (const result::MemoryPoint& point : memory.points) {
    if (point.task == "curve" && point.ns) {
      curve.push_back({static_cast<double>(point.region_bytes), *point.ns, false, {}});
    }
  }
  std::sort(curve.begin(), curve.end(),
            [](const CurvePoint& one, const CurvePoint& other) { return one.size_bytes < other.size_bytes; });
  // A size that occurs twice belongs to several strides or runs, which are not one curve.
  const auto again = std::adjacent_find(curve.begin(), curve.end(), [](const CurvePoint& one, const CurvePoint& other) {
    return one.size_bytes == other.size_bytes;
  });
  if (curve.size() < 8 || again != curve.end()) return;
  const auto plateaus = find_plateaus(curve);
  if (plateaus.size() < 2) return;
  memory.levels = find_levels(curve, join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true)), {});
  for (result::MemoryLevel& level : memory.levels) {
    // Its batches and controls are unknown.
    level.grade = result::Grade::low;
    level.because += "; found in another tool's curve, whose noise is unknown";
  }
}

}  // namespace

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = split(std::string(text), '\n');
  for (std::string& line : lines) {
    if (line.ends_with('\r')) line.pop_back();
  }
  return lines;
}

std::optional<double> number_of(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

Error wrong_line(std::size_t line, std::string_view text, std::string_view wanted) {
  return {Code::bad_usage, fmt::format("line {} is not {}: '{}'", line, wanted, printable(text.substr(0, 80))), "", 0};
}

result::MemoryPoint foreign_point(std::string task, std::string quantity, double bytes, std::optional<double> ns) {
  result::MemoryPoint point;
  point.task = std::move(task);
  point.quantity = std::move(quantity);
  point.mode = "lap";
  point.region_bytes = static_cast<std::uint64_t>(std::llround(std::clamp(bytes, 0.0, 1e18)));
  point.block_bytes = point.stride_bytes = 64;
  point.count = point.region_bytes / 64;
  point.ns = ns;
  return point;
}

std::span<const ForeignFormat> foreign_formats() { return formats; }

bool is_foreign(std::string_view text) {
  return std::any_of(formats.begin(), formats.end(), [&](const ForeignFormat& one) { return one.looks(text); });
}

Result<result::Memory> read_foreign(std::string_view text, const std::string& name) {
  const auto format =
      std::find_if(formats.begin(), formats.end(), [&](const ForeignFormat& one) { return one.looks(text); });
  if (format == formats.end()) {
    return fail(Code::bad_usage, fmt::format("'{}' is not the output of a known tool", printable(name)));
  }
  auto memory = format->read(text);
  if (memory && memory->points.empty() && memory->maps.empty()) {
    memory = fail(Code::bad_usage, "it contains no numbers");
  }
  if (!memory) {
    return fail(Code::bad_usage,
                fmt::format("'{}' looks like {}, but cannot be read: {}", printable(name), format->name,
                            memory.error().message),
                memory.error().hint);
  }
  memory->task = memory->points.empty() ? "nodes" : memory->points.front().task;
  memory->settings.insert(memory->settings.begin(), {"read from", std::string(format->name)});
  memory->counters_reason = "another tool's result";
  add_levels(*memory);
  return memory;
}

}  // namespace tally::memory
