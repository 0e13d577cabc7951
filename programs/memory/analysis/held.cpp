#include "programs/memory/analysis/held.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::memory {

HeldRange held_range(const std::vector<KnownCache>& reported) {
  if (reported.empty() || !reported.back().shared) return {};
  std::int64_t own = 0;
  for (const KnownCache& one : reported) {
    if (!one.shared) own = std::max(own, one.bytes);
  }
  if (own == 0) return {};
  return {static_cast<std::uint64_t>(2 * own), static_cast<std::uint64_t>(reported.back().bytes / 2)};
}

RunVerdict judge_held(RunVerdict verdict, const std::vector<HeldSize>& sizes, std::size_t points) {
  const auto held = static_cast<std::size_t>(std::count_if(sizes.begin(), sizes.end(), is_held));
  if (verdict.contended || held * 10 <= points) return verdict;
  verdict.contended = true;
  verdict.why = fmt::format("{} ({} of {} sizes)", cache_shared, held, points);
  verdict.cause = cache_shared;
  return verdict;
}

std::optional<std::string> held_finding(const std::vector<HeldSize>& sizes, const std::vector<KnownCache>& reported,
                                        double memory_ns) {
  std::vector<HeldSize> held;
  std::copy_if(sizes.begin(), sizes.end(), std::back_inserter(held), is_held);
  if (held.empty() || reported.empty()) return std::nullopt;
  const auto by_bytes = [](const HeldSize& a, const HeldSize& b) { return a.bytes < b.bytes; };
  const auto by_share = [](const HeldSize& a, const HeldSize& b) { return a.share < b.share; };
  const auto [least, most] = std::minmax_element(held.begin(), held.end(), by_bytes);
  const auto worst = std::max_element(held.begin(), held.end(), by_share);
  const auto text = [](std::int64_t bytes) { return bytes_text(bytes); };
  const std::string where = held.size() == 1
                                ? "at " + text(static_cast<std::int64_t>(least->bytes))
                                : fmt::format("between {} and {}", text(static_cast<std::int64_t>(least->bytes)),
                                              text(static_cast<std::int64_t>(most->bytes)));
  return fmt::format(
      "{} {}{:.0f} % of the loads came from memory ({:.0f} ns and more), though a shared cache of {} is reported: "
      "others "
      "fill it, or this machine's part of it is smaller; run it again at a quieter time",
      where, held.size() == 1 ? "" : "up to ", 100 * worst->share, memory_ns, text(reported.back().bytes));
}

void describe_held(const std::vector<HeldSize>& sizes, std::vector<result::MemoryLevel>& levels) {
  const auto first = std::find_if(sizes.begin(), sizes.end(), is_held);
  if (first == sizes.end()) return;
  for (result::MemoryLevel& level : levels) {
    if (!level.capacity_bytes || *level.capacity_bytes <= static_cast<double>(first->bytes)) continue;
    level.grade = result::Grade::low;
    level.because += fmt::format("; from {} on memory served some of the loads: others fill it",
                                 bytes_text(static_cast<std::int64_t>(first->bytes)));
  }
}

}  // namespace tally::memory
