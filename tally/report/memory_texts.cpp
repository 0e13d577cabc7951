#include "tally/report/memory_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tally/base/text.hpp"
#include "tally/report/numbers.hpp"

namespace tally::report {

std::string capacity_text(const result::MemoryLevel& level) {
  if (!level.capacity_bytes) return level.contended ? "contended" : level.unseen ? "not seen" : "-";
  const std::string measured = size_text(*level.capacity_bytes);
  const std::string interval = fmt::format("[{}, {}]", size_text(*level.capacity_low), size_text(*level.capacity_high));
  if (level.snapped)
    return fmt::format("{} (measured {})", size_text(static_cast<double>(*level.reported_bytes)), measured);
  return fmt::format("{} {}{}", measured, interval, level.effective ? " effective" : "");
}

std::string grade_text(const result::MemoryLevel& level) {
  return level.contended || level.unseen ? "-" : std::string(name(level.grade));
}

std::string reported_text(const result::MemoryLevel& level) {
  return level.reported_bytes ? size_text(static_cast<double>(*level.reported_bytes)) : "";
}

std::string latency_text(double ns, const std::optional<double>& low, const std::optional<double>& high) {
  if (ns <= 0) return "-";
  const int digits = ns < 10 ? 2 : ns < 100 ? 1 : 0;
  std::string text = fmt::format("{:.{}f} ns", ns, digits);
  if (low && high && *high > *low * 1.02) text += fmt::format(" [{:.{}f}, {:.{}f}]", *low, digits, *high, digits);
  return text;
}

std::string geometry_text(const std::optional<std::int64_t>& ways, const std::optional<std::int64_t>& sets) {
  return ways && sets ? fmt::format("{} x {}", *ways, *sets) : "";
}

std::string verdict_text(const result::Memory& memory) {
  const auto& verdict = memory.verdict;
  const std::string noise = fmt::format("{:.1f} % of the batches rejected, reference ring moved {:.1f} %",
                                        verdict.rejected_percent, verdict.reference_moved_percent);
  if (verdict.contended) return fmt::format("contended: {}; {}", verdict.text, noise);
  if (verdict.points == 0) return "noise: nothing is known of it";
  return fmt::format("noise: {} of {} points flagged, {}", verdict.flagged, verdict.points, noise);
}

std::string count_text(const std::optional<double>& count) {
  if (!count) return {};
  return fmt::format("{:.{}f}", *count, *count != 0 && *count < 0.1 ? 4 : 3);
}

std::string counters_text(const result::Memory& memory) {
  if (memory.counters.empty()) {
    return memory.counters_reason.empty() ? "" : "counters: none: " + memory.counters_reason;
  }
  std::string source;
  std::vector<std::string> counted;
  std::vector<std::pair<std::string, std::vector<std::string>>> others;  // events by what is said of them
  for (const result::MemoryCounter& one : memory.counters) {
    if (one.reason.empty()) {
      source = one.source;
      counted.push_back(one.event);
    }
    const std::string& why = one.reason.empty() ? one.doubt : one.reason;
    if (why.empty()) continue;
    const std::string said = (one.reason.empty() ? "partial: " : "none: ") + why;
    const auto same =
        std::find_if(others.begin(), others.end(), [&](const auto& other) { return other.first == said; });
    (same == others.end() ? others.emplace_back(said, std::vector<std::string>()) : *same).second.push_back(one.event);
  }
  std::string text = fmt::format("counters of {}, for each load or line: {}", source, join(counted, ", "));
  for (const auto& [said, events] : others) text += fmt::format("; {}: {}", join(events, ", "), said);
  return text;
}

}  // namespace tally::report
