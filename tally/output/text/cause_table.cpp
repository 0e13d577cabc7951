#include "tally/output/text/cause_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::output {
namespace {

constexpr std::size_t most_lines = 3;

/// "chase.c:16 98 %, list.c:7 1 %"; code without a line is named by its function.
std::string lines_of_cause(const result::Profile& profile, const std::vector<std::string>& names,
                           std::vector<ProfileSum>& lines, std::size_t event) {
  const auto more = [&](const ProfileSum& a, const ProfileSum& b) { return a.counts[event] > b.counts[event]; };
  const std::size_t shown = std::min(most_lines, lines.size());
  std::partial_sort(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), lines.end(), more);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shown; ++i) {
    const ProfileSum& line = lines[i];
    if (line.counts[event] <= 0) break;
    const double share = static_cast<double>(line.counts[event]) / static_cast<double>(total_count(profile, event));
    texts.push_back(fmt::format("{} {}",
                                line.line != 0 ? location_of(profile, line.source, line.line) : names[line.function],
                                percent_text(100 * share)));
  }
  return join(texts, ", ");
}

}  // namespace

std::string cause_table(const result::Profile& profile, std::size_t terminal) {
  const auto columns = CauseColumns::find(profile.stat.events);
  if (!columns) return {};
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < columns->causes().size(); ++i)
    if (total_count(profile, columns->causes()[i]) > 0) order.push_back(i);
  const auto cycles = [&](std::size_t i) { return total_count(profile, columns->causes()[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cycles(a) > cycles(b); });
  std::vector<ProfileSum> lines = sums_of(profile, ProfileBy::line);
  const std::vector<std::string> names = cut_names(function_names(profile, false));
  Grid grid({{"cause"}, {"cycles", Align::right}, {"share", Align::right}, prose_column("lines with most of it")});
  const auto all = static_cast<double>(std::max<std::int64_t>(total_count(profile, columns->cycles()), 1));
  for (const std::size_t i : order)
    grid.add({std::string(cycle_causes()[i].name), thousands(cycles(i)),
              percent_text(100 * static_cast<double>(cycles(i)) / all),
              lines_of_cause(profile, names, lines, columns->causes()[i])});
  return grid.text(terminal);
}

}  // namespace tally::output
