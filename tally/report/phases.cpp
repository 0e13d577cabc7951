#include "tally/report/phases.hpp"

#include <algorithm>
#include <utility>

#include "tally/phase/clusters.hpp"

namespace tally::report {
namespace {

// A cut window of a few instructions is like none: what is shorter than this share of the usual one has no phase.
constexpr std::int64_t shortest_share = 10;

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
      to.events.push_back(windows.head.events[i].name);
      break;
    }
  }
}

}  // namespace

Phases find_phases(const result::Windows& windows) {
  Phases made;
  const std::int64_t least = std::max<std::int64_t>(1, usual_length(windows) / shortest_share);
  const std::size_t dimensions = windows.series.empty() ? 0 : windows.series.front().counts.size();
  phase::Vectors vectors{dimensions, {}};
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // of each vector: the series and the row in it
  for (std::size_t i = 0; i < windows.series.size(); ++i) {
    const result::WindowSeries& series = windows.series[i];
    made.of_row.emplace_back(series.rows(), -1);
    for (std::size_t row = 0; row < series.rows(); ++row) {
      if (series.lengths[row] < least) {
        ++made.too_short;
        continue;
      }
      rows.emplace_back(i, row);
      for (const auto& counts : series.counts)
        vectors.values.push_back(static_cast<double>(counts[row]) / static_cast<double>(series.lengths[row]));
    }
  }
  if (rows.empty() || dimensions == 0) return made;
  add_names(windows, vectors, made);
  const phase::Clusters clusters = phase::find_clusters(phase::scaled(vectors), {});
  for (std::size_t i = 0; i < clusters.centers.size(); ++i) {
    const auto& [series, row] = rows[clusters.representatives[i]];
    made.phases.push_back({clusters.sizes[i], 0, std::vector<std::int64_t>(dimensions), series, row});
  }
  for (std::size_t i = 0; i < clusters.of_row.size(); ++i) {
    const auto& [place, row] = rows[i];
    const result::WindowSeries& series = windows.series[place];
    made.of_row[place][row] = static_cast<std::int64_t>(clusters.of_row[i]);
    Phase& to = made.phases[clusters.of_row[i]];
    to.length += series.lengths[row];
    for (std::size_t d = 0; d < dimensions; ++d) to.counts[d] += series.counts[d][row];
  }
  return made;
}

}  // namespace tally::report
