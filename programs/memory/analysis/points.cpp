#include "programs/memory/analysis/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "programs/memory/statistics/seeded_random.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"

namespace tally::memory {
namespace {

using Batches = std::vector<const std::vector<double>*>;

std::vector<double> resampled_medians(const Batches& mappings) {
  constexpr int draws = 200;
  Random random(1);
  std::vector<double> results;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> medians;
    for (std::size_t i = 0; i < mappings.size(); ++i) {
      const std::vector<double>& batches = *mappings[random.uniform(0, mappings.size() - 1)];
      std::vector<double> drawn;
      for (std::size_t k = 0; k < batches.size(); ++k) drawn.push_back(batches[random.uniform(0, batches.size() - 1)]);
      medians.push_back(median(std::move(drawn)));
    }
    results.push_back(median(std::move(medians)));
  }
  return results;
}

// The reason that occurs most often.
std::string most_frequent(const std::vector<std::string>& reasons) {
  std::map<std::string, int> counts;
  for (const std::string& reason : reasons) ++counts[reason];
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& one, const auto& other) { return one.second < other.second; });
  return most == counts.end() ? std::string() : most->first;
}

}  // namespace

std::string disturbance_of(const MappingSample& mapping, const Surroundings& run) {
  const auto batches = static_cast<std::int64_t>(mapping.ns.size());
  if (run.waited_share > waited_too_long && !mapping.settled) return std::string(processor_shared);
  // Interruptions do not affect a settled batch, unless hardly any batch is left.
  const int quarters = mapping.settled ? 3 : 1;
  if (batches == 0 || mapping.rejected * 4 > (batches + mapping.rejected) * quarters) return "batches rejected";
  if (run.best_reference_cycles > 0 && mapping.reference_cycles > 1.04 * run.best_reference_cycles) {
    return std::string(core_shared);
  }
  const double least = *std::min_element(mapping.ns.begin(), mapping.ns.end());
  if (mapping.whole_laps && median(mapping.ns) > 1.25 * least) return "laps differ";
  return {};
}

QuietMappings quiet_mappings(const std::vector<MappingSample>& mappings, const Surroundings& run) {
  QuietMappings quiet;
  std::vector<std::string> reasons;
  std::vector<std::pair<double, std::size_t>> sound;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (auto reason = disturbance_of(mappings[i], run); !reason.empty()) {
      reasons.push_back(std::move(reason));
    } else {
      sound.emplace_back(median(mappings[i].ns), i);
    }
  }
  const auto used_the_cache = [&](const auto& one) {
    return mappings[one.second].from_memory.value_or(0) <= little_from_memory;
  };
  if (std::any_of(sound.begin(), sound.end(), used_the_cache)) {
    const auto removed = std::erase_if(sound, [&](const auto& one) { return !used_the_cache(one); });
    reasons.insert(reasons.end(), removed, std::string(cache_shared));
  }
  std::sort(sound.begin(), sound.end());
  const std::size_t enough = std::min<std::size_t>(3, mappings.size());
  if (sound.size() < enough || sound.empty()) {
    quiet.why = most_frequent(reasons);
    quiet.detail = fmt::format("{} of {} mappings disturbed: {}", reasons.size(), mappings.size(), quiet.why);
    return quiet;
  }
  for (const auto& [ns, index] : sound) {
    if (ns <= 1.2 * sound.front().first) quiet.which.push_back(index);
  }
  if (quiet.which.size() >= enough && quiet.which.size() * 3 >= sound.size()) return quiet;
  quiet.which.clear();
  const double differ_percent = (sound.back().first / sound.front().first - 1) * 100;
  quiet.why = mappings_differ;
  quiet.detail = fmt::format("{} by {:.0f} %", mappings_differ, differ_percent);
  if (std::any_of(sound.begin(), sound.end(), [&](const auto& one) {
        return mappings[one.second].from_memory.value_or(0) > too_much_from_memory;
      })) {
    quiet.why = cache_shared;
    quiet.detail = fmt::format("{}: {} by {:.0f} %", cache_shared, mappings_differ, differ_percent);
  }
  return quiet;
}

PointSummary summarize_point(const std::vector<MappingSample>& mappings, const Surroundings& run) {
  PointSummary point;
  QuietMappings quiet = quiet_mappings(mappings, run);
  if (!quiet.why.empty()) {
    point.why = std::move(quiet.why);
    point.flags.push_back(std::move(quiet.detail));
    for (std::size_t i = 0; i < mappings.size(); ++i) quiet.which.push_back(i);
  }
  Batches sound;
  std::vector<double> medians;
  std::vector<double> ghz;
  std::vector<std::vector<double>> counts;
  std::vector<double> from_memory;
  std::int64_t accepted = 0;
  for (const MappingSample& mapping : mappings) {
    accepted += static_cast<std::int64_t>(mapping.ns.size());
    point.rejected += mapping.rejected;
  }
  for (const std::size_t index : quiet.which) {
    const MappingSample& mapping = mappings[index];
    if (mapping.ns.empty()) continue;
    point.quiet.push_back(index);
    point.batches += static_cast<std::int64_t>(mapping.ns.size());
    sound.push_back(&mapping.ns);
    medians.push_back(median(mapping.ns));
    ghz.push_back(mapping.ghz);
    counts.push_back(medians_by_column(mapping.counts));
    if (mapping.from_memory) from_memory.push_back(*mapping.from_memory);
    if (!mapping.whole_laps) continue;
    const double least = *std::min_element(mapping.ns.begin(), mapping.ns.end());
    point.ns_min = std::min(point.ns_min.value_or(least), least);
  }
  point.rejected += accepted - point.batches;
  if (sound.empty()) return point;
  point.ns = median(medians);
  point.cycles = point.ns * median(ghz);
  point.counts = medians_by_column(counts);
  if (!from_memory.empty()) point.from_memory = median(std::move(from_memory));
  const auto drawn = resampled_medians(sound);
  point.ns_low = quantile(drawn, 0.025);
  point.ns_high = quantile(drawn, 0.975);
  return point;
}

std::string neighbour_flag(double before_ns, double ns, double after_ns) {
  if (ns <= 1.5 * before_ns || ns <= 1.5 * after_ns) return {};
  return fmt::format("{:.1f} ns between {:.1f} and {:.1f}", ns, before_ns, after_ns);
}

RunVerdict judge_run(std::size_t points, std::size_t flagged, const std::vector<double>& references,
                     double waited_share) {
  RunVerdict verdict;
  if (points == 0) return {true, 0, "nothing was measured"};
  if (!references.empty()) {
    const double best = *std::min_element(references.begin(), references.end());
    verdict.reference_moved_percent = (median(references) / best - 1) * 100;
  }
  if (flagged * 10 > points) {
    verdict.contended = true;
    verdict.why = fmt::format("{} of {} points flagged", flagged, points);
  } else if (verdict.reference_moved_percent > 10) {
    verdict.contended = true;
    verdict.why = fmt::format("the L1 reference ring moved by {:.0f} %", verdict.reference_moved_percent);
  } else if (waited_share > waited_too_long) {
    verdict.contended = true;
    verdict.why =
        fmt::format("{}, {:.0f} % of the time was spent waiting for it", processor_shared, 100 * waited_share);
  }
  return verdict;
}

}  // namespace tally::memory
