#include "tally/output/kinds/intervals.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/result/interval_reason.hpp"

namespace tally::output {
namespace {

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

std::string count_trust_text(const Count& count) {
  std::string text(name(count.trust));
  if (!count.reason.empty()) text += ": " + count.reason;
  return text;
}

}  // namespace

std::string interval_lines(const result::Interval& interval, const Style& style) {
  std::string text;
  const std::string run = style.run_numbers ? fmt::format(" {:>4}", interval.run) : "";
  if (style.header && style.run_numbers) text += fmt::format(" {:>4}", "run");
  if (style.header) text += fmt::format(" {:>10} {:>20}  {:<28} {}\n", "second", "count", "event", "trust");
  for (const result::EventCount& event_count : interval.counts) {
    // The end of the run reports more; the first interval says that it is not counted here.
    if (!style.header && event_count.count.reason == result::only_at_end) continue;
    const std::string value = event_count.count.value ? value_text(*event_count.count.value, event_count.unit) : "-";
    text += run + fmt::format(" {:>10.3f} {:>20}  {:<28} {}\n", seconds(interval.end), value, event_count.name.text(),
                              count_trust_text(event_count.count));
  }
  return text;
}

}  // namespace tally::output
