#include "tally/output/analysis/sort_rows.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tally::output {

void sort_rows(result::Profile& profile) {
  std::vector<std::size_t> order(profile.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const result::ProfileRow& row = profile.rows[i];
    return std::tuple(row.owner, row.function, row.address);
  };
  const auto before = [&](std::size_t a, std::size_t b) { return key(a) < key(b); };
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<result::ProfileRow> rows;
  std::vector<std::int64_t> counts, samples;
  rows.reserve(order.size());
  counts.reserve(profile.counts.size());
  samples.reserve(profile.samples.size());
  const std::size_t events = profile.event_count();
  for (const std::size_t i : order) {
    rows.push_back(profile.rows[i]);
    for (std::size_t e = 0; e < events; ++e) counts.push_back(profile.count(i, e));
    if (!profile.samples.empty())
      for (std::size_t e = 0; e < events; ++e) samples.push_back(profile.samples[i * events + e]);
  }
  profile.rows = std::move(rows);
  profile.counts = std::move(counts);
  profile.samples = std::move(samples);
}

}  // namespace tally::output
