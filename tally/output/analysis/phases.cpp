#include "tally/output/analysis/phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/stats/clusters.hpp"
#include "tally/core/stats/projection.hpp"

namespace tally::output {
namespace {

// Windows shorter than a tenth of the median length have no phase: cut windows of a few instructions mean little.
constexpr std::int64_t length_divisor = 10;

std::int64_t usual_length(const result::Windows& windows) {
  std::vector<std::int64_t> lengths;
  for (const result::WindowSeries& series : windows.series)
    lengths.insert(lengths.end(), series.lengths.begin(), series.lengths.end());
  if (lengths.empty()) return 0;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

void add_names(const result::Windows& windows, const phase::Vectors& vectors, Phases& to) {
  for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
    const auto place = windows.head.places[i];
    if (!place) continue;
    const double first = vectors.values[*place];
    for (std::size_t row = 1; row < vectors.rows(); ++row) {
      if (vectors.values[row * vectors.dimensions + *place] == first) continue;
      to.events.push_back(windows.head.events[i].name.text());
      break;
    }
  }
}

// Parses the rest of a line after the T: ":BLOCK:COUNT", separated by spaces.
bool add_point(std::string_view line, std::vector<double>& to, double& all) {
  std::vector<std::pair<std::uint64_t, double>> blocks;
  all = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\r') {
      ++at;
      continue;
    }
    std::uint64_t block = 0;
    double count = 0;
    if (line[at] != ':') return false;
    const auto name = std::from_chars(line.data() + at + 1, line.data() + line.size(), block);
    if (name.ec != std::errc{} || name.ptr == line.data() + line.size() || *name.ptr != ':') return false;
    const auto number = std::from_chars(name.ptr + 1, line.data() + line.size(), count);
    if (number.ec != std::errc{}) return false;
    at = static_cast<std::size_t>(number.ptr - line.data());
    blocks.emplace_back(block, count);
    all += count;
  }
  to.resize(to.size() + phase::projected_dimensions);
  const std::span<double, phase::projected_dimensions> point(to.data() + to.size() - phase::projected_dimensions,
                                                             phase::projected_dimensions);
  for (const auto& [block, count] : blocks) phase::project(block, all > 0 ? count / all : 0, point);
  return true;
}

bool have_points(const result::Windows& windows) {
  return !windows.series.empty() &&
         std::all_of(windows.series.begin(), windows.series.end(), [](const result::WindowSeries& series) {
           return series.points.size() == series.rows() * phase::projected_dimensions;
         });
}

}  // namespace

Result<void> add_vectors(result::WindowSeries& series, std::string_view text, const std::string& name,
                         bool counts_instructions) {
  series.points.clear();
  std::size_t number = 0, row = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty() || line[0] == '#') continue;
    double instructions = 0;
    if (line[0] == 'T' && add_point(line.substr(1), series.points, instructions)) {
      // The last vector may be cut off if the program was killed.
      const bool differs = counts_instructions && row < series.rows() && instructions != 0 &&
                           instructions != static_cast<double>(series.lengths[row]);
      ++row;
      if (!differs) continue;
      return fail(Code::bad_usage,
                  fmt::format("'{}' is from a different run: line {} has {:.0f} instructions, but the window has {}",
                              printable(name), number, instructions, series.lengths[row - 1]),
                  "use rows and vectors of the same run of tally sample");
    }
    return fail(Code::bad_usage, fmt::format("'{}' holds no basic-block vectors: line {}", printable(name), number),
                "expected lines like T:BLOCK:COUNT :BLOCK:COUNT …, as written by tally sample --bbv");
  }
  const std::size_t vectors = series.points.size() / phase::projected_dimensions;
  if (vectors == series.rows()) return {};
  return fail(Code::bad_usage,
              fmt::format("'{}' has {} vectors, but thread {} of {} has {} windows", printable(name), vectors,
                          series.tid, printable(series.program), series.rows()),
              "use rows and vectors of the same run of tally sample");
}

Phases find_phases(const result::Windows& windows) {
  Phases phases;
  const std::int64_t min_length = std::max<std::int64_t>(1, usual_length(windows) / length_divisor);
  const std::size_t dimensions = windows.series.empty() ? 0 : windows.series.front().counts.size();
  phases.by_code = have_points(windows);
  phase::Vectors vectors{phases.by_code ? phase::projected_dimensions : dimensions, {}};
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // series and row of each vector
  for (std::size_t i = 0; i < windows.series.size(); ++i) {
    const result::WindowSeries& series = windows.series[i];
    phases.of_row.emplace_back(series.rows(), -1);
    for (std::size_t row = 0; row < series.rows(); ++row) {
      if (series.lengths[row] < min_length) {
        ++phases.too_short;
        continue;
      }
      rows.emplace_back(i, row);
      if (phases.by_code) {
        const auto point = series.points.begin() + static_cast<std::ptrdiff_t>(row * phase::projected_dimensions);
        vectors.values.insert(vectors.values.end(), point, point + phase::projected_dimensions);
        continue;
      }
      for (const auto& counts : series.counts)
        vectors.values.push_back(static_cast<double>(counts[row]) / static_cast<double>(series.lengths[row]));
    }
  }
  if (rows.empty() || vectors.dimensions == 0) return phases;
  if (phases.by_code)
    for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
      if (windows.head.places[i]) phases.events.push_back(windows.head.events[i].name.text());
    }
  else
    add_names(windows, vectors, phases);
  const phase::Clusters clusters = phase::find_clusters(phase::scaled(vectors), {});
  for (std::size_t i = 0; i < clusters.centers.size(); ++i) {
    const auto& [series, row] = rows[clusters.representatives[i]];
    phases.phases.push_back({clusters.sizes[i], 0, std::vector<std::int64_t>(dimensions), series, row});
  }
  for (std::size_t i = 0; i < clusters.of_row.size(); ++i) {
    const auto& [series_index, row] = rows[i];
    const result::WindowSeries& series = windows.series[series_index];
    phases.of_row[series_index][row] = static_cast<std::int64_t>(clusters.of_row[i]);
    Phase& to = phases.phases[clusters.of_row[i]];
    to.length += series.lengths[row];
    for (std::size_t d = 0; d < dimensions; ++d) to.counts[d] += series.counts[d][row];
  }
  return phases;
}

}  // namespace tally::output
