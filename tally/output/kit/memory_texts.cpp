#include "tally/output/kit/memory_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::output {

std::string verdict_text(const result::Memory& memory) {
  const auto& verdict = memory.verdict;
  const bool timed = std::any_of(memory.points.begin(), memory.points.end(),
                                 [](const auto& point) { return point.batches + point.rejected > 0; }) ||
                     !memory.ceilings.peaks.empty();
  const std::string noise =
      (timed ? fmt::format("{:.1f} % of the batches rejected, ", verdict.rejected_percent) : std::string()) +
      fmt::format("reference ring moved {:.1f} %", verdict.reference_moved_percent);
  if (verdict.contended) return fmt::format("contended: {}; {}", verdict.text, noise);
  if (verdict.points == 0) return "noise: unknown: no points were measured";
  return fmt::format("noise: {} of {} points flagged, {}", verdict.flagged, verdict.points, noise);
}

std::string ceiling_name(const result::Ceiling& ceiling) {
  if (ceiling.of == "x87") return ceiling.of;
  if (ceiling.of == "bf16") return fmt::format("BF16 {} bits", ceiling.bits);
  if (ceiling.of != "single" && ceiling.of != "double" && ceiling.of != "half") return ceiling.of + " bandwidth";
  return ceiling.of + (ceiling.bits == 0 ? " scalar" : fmt::format(" {} bits", ceiling.bits));
}

std::string rate_text(double per_second, const char* unit) {
  constexpr double giga = 1e9;
  return fmt::format("{} G{}", number_text(per_second / giga), unit);
}

std::string advice_text(const result::Memory& memory) {
  return memory.verdict.advice.empty() ? std::string() : "next: " + memory.verdict.advice;
}

std::string counters_text(const result::Memory& memory) {
  if (memory.counters.empty()) {
    return memory.counters_reason.empty() ? "" : "counters: none: " + memory.counters_reason;
  }
  std::string source;
  std::vector<std::string> counted;
  std::vector<std::pair<std::string, std::vector<std::string>>> others;  // reason, and the events that have it
  for (const result::MemoryCounter& counter : memory.counters) {
    if (counter.reason.empty()) {
      source = counter.source;
      counted.push_back(counter.event);
    }
    const std::string& why = counter.reason.empty() ? counter.doubt : counter.reason;
    if (why.empty()) continue;
    const std::string reason = (counter.reason.empty() ? "partial: " : "none: ") + why;
    const auto same =
        std::find_if(others.begin(), others.end(), [&](const auto& other) { return other.first == reason; });
    (same == others.end() ? others.emplace_back(reason, std::vector<std::string>()) : *same)
        .second.push_back(counter.event);
  }
  std::string text = fmt::format("counters of {}, for each load or line: {}", source, join(counted, ", "));
  for (const auto& [reason, events] : others) text += fmt::format("; {}: {}", join(events, ", "), reason);
  return text;
}

}  // namespace tally::output
