#include "programs/results/history_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tally/core/base/text.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::results {
namespace {

constexpr std::size_t most_steps = 5;  // that are named

/// The level of a series at one of its values.
double level_at(const HistorySeries& series, std::size_t at) {
  double level =
      series.changes.empty() ? static_cast<double>(*series.values.front().count->value) : series.changes.front().before;
  for (const SeriesChange& change : series.changes)
    if (change.at <= at) level = change.after;
  return level;
}

}  // namespace

bool is_growth_limit(const std::string& text) { return text.find("%/") != std::string::npos; }

Result<GrowthLimit> parse_growth_limit(const std::string& text) {
  GrowthLimit parsed{.text = text.substr(text.rfind('=') + 1)};
  if (parsed.text.size() < text.size()) parsed.event = text.substr(0, text.rfind('='));
  const std::size_t percent = parsed.text.find("%/");
  const auto results =
      percent == std::string::npos ? std::nullopt : parse_integer(std::string_view(parsed.text).substr(percent + 2));
  const char* const end = parsed.text.data() + std::min(percent, parsed.text.size());
  double limit = 0;
  const auto [rest, error] = std::from_chars(parsed.text.data(), end, limit);
  if (!results || *results < 1 || error != std::errc() || rest != end || !(limit >= 0))
    return fail(Code::bad_usage, fmt::format("'{}' is not a limit of growth", printable(text)),
                "for example: 2%/20 (at most 2 % over the last 20 results), instructions=1%/50");
  parsed.limit = limit / 100;
  parsed.results = static_cast<std::size_t>(*results);
  return parsed;
}

std::optional<SeriesGrowth> growth_of(const HistorySeries& series, std::size_t results) {
  if (series.values.size() < 2) return std::nullopt;
  const std::size_t last = series.values.size() - 1;
  std::size_t from = last - std::min(last, results);
  std::string accepted;
  for (std::size_t i = last; i > from; --i)
    if (accepts(series, i)) {
      from = i;
      accepted = fmt::format("{} ({})", entry_text(*series.values[i].entry), series.values[i].entry->accepted);
    }
  SeriesGrowth growth{
      .before = level_at(series, from), .after = level_at(series, last), .results = last - from, .steps = {}};
  growth.accepted = accepted;
  for (const SeriesChange& change : series.changes)
    if (change.at > from && change.after > change.before) growth.steps.push_back(change);
  // The largest are named, in the order of their results.
  const auto named = growth.steps.begin() + static_cast<std::ptrdiff_t>(std::min(most_steps, growth.steps.size()));
  std::partial_sort(growth.steps.begin(), named, growth.steps.end(), [](const SeriesChange& a, const SeriesChange& b) {
    return a.after - a.before > b.after - b.before;
  });
  std::sort(growth.steps.begin(), named, [](const SeriesChange& a, const SeriesChange& b) { return a.at < b.at; });
  for (const SeriesChange& step : growth.steps) growth.commits.push_back(entry_text(*series.values[step.at].entry));
  return growth;
}

bool is_limited(const HistorySeries& series, const GrowthLimit& limit) {
  const Trust trust = series.values.back().count->trust;
  if (limit.event.empty()) return trust == Trust::exact || trust == Trust::modelled;
  return series.event == limit.event || split_event_name(series.event).base == limit.event;
}

std::string growth_text(const SeriesGrowth& growth) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < std::min(most_steps, growth.steps.size()); ++i) {
    const SeriesChange& step = growth.steps[i];
    steps.push_back(
        fmt::format("{} at {}", output::percent_change(step.before, step.after), printable(growth.commits[i])));
  }
  if (growth.steps.size() > most_steps) steps.push_back(fmt::format("{} more", growth.steps.size() - most_steps));
  if (growth.results == 0) return fmt::format("limits of growth begin at the accepted {}", printable(growth.accepted));
  return fmt::format("{} over the last {}{}{}",
                     growth.after == growth.before ? "0 %" : output::percent_change(growth.before, growth.after),
                     plural(static_cast<std::int64_t>(growth.results), "result", "results"),
                     growth.accepted.empty() ? "" : ", since the accepted " + printable(growth.accepted),
                     steps.empty() ? "" : ": " + join(steps, ", "));
}

}  // namespace tally::results
