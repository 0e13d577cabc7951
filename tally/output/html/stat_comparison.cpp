// Compares several results of `tally stat`: one row for each event, one column for each result.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/html/element.hpp"
#include "tally/output/html/html.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/text/grid.hpp"
#include "tally/output/text/metrics.hpp"

namespace tally::report {
namespace {

using result::Event;
using result::Metric;
using result::Stat;

struct NamedStat {
  std::string name;
  const Stat* stat;
};

std::vector<NamedStat> stats_of(const std::vector<NamedResult>& results) {
  std::vector<NamedStat> all;
  for (const NamedResult& one : results) {
    const auto* const stat = std::get_if<Stat>(&one.result);
    if (stat == nullptr) continue;
    const bool is_repeated =
        std::any_of(all.begin(), all.end(), [&](const NamedStat& other) { return other.name == one.name; });
    all.push_back({is_repeated ? fmt::format("{} ({})", one.name, all.size() + 1) : one.name, stat});
  }
  return all;
}

const Metric* find_metric(const Stat& stat, const std::string& name) {
  const auto found =
      std::find_if(stat.metrics.begin(), stat.metrics.end(), [&](const Metric& one) { return one.name == name; });
  return found == stat.metrics.end() ? nullptr : &*found;
}

std::string ratio_text(double first, double other) {
  return first == 0 ? std::string() : fmt::format("{:.3f}", other / first);
}

std::string difference_text(std::int64_t first, std::int64_t other, Unit unit) {
  const std::int64_t difference = other - first;
  if (difference == 0) return "0";
  return (difference > 0 ? "+" : "-") + value_text(std::abs(difference), unit);
}

/// Whether the ranges of the runs of both results have values in common.
bool ranges_overlap(const Event& a, const Event& b) {
  const auto has_range = [](const Event& one) {
    return one.summary && one.summary->n > 1 && one.summary->min && one.summary->max;
  };
  return has_range(a) && has_range(b) && *a.summary->min <= *b.summary->max && *b.summary->min <= *a.summary->max;
}

/// "exact", or the trust of each result if they differ.
std::string trusts_text(const std::vector<std::string>& all) {
  const bool same = std::all_of(all.begin(), all.end(), [&](const std::string& one) { return one == all.front(); });
  return same ? all.front() : join(all, " / ");
}

std::vector<std::string> headings_of(const std::vector<NamedStat>& stats, std::string first) {
  std::vector<std::string> headings{std::move(first)};
  for (const NamedStat& one : stats) headings.push_back("#" + one.name);
  for (std::size_t i = 1; i < stats.size(); ++i) {
    const std::string which = stats.size() > 2 ? " of " + stats[i].name : "";
    headings.push_back("#difference" + which);
    headings.push_back("#ratio" + which);
  }
  headings.insert(headings.end(), {"trust", "note"});
  return headings;
}

std::vector<std::string> event_row(const std::vector<NamedStat>& stats, const EventName& name) {
  std::vector<std::string> values{name.text()}, changes, all_trusts;
  std::string note;
  const Event* const first = find_event(*stats.front().stat, name);
  for (const NamedStat& one : stats) {
    const Event* const event = find_event(*one.stat, name);
    const bool is_counted = event != nullptr && event->total.count.value;
    values.push_back(is_counted ? value_text(*event->total.count.value, event->total.unit) : "-");
    if (event != nullptr) all_trusts.emplace_back(tally::name(event->total.count.trust));
    if (&one == &stats.front()) continue;
    if (!is_counted || first == nullptr || !first->total.count.value) {
      changes.insert(changes.end(), 2, "");
      continue;
    }
    const std::int64_t from = *first->total.count.value, to = *event->total.count.value;
    changes.push_back(difference_text(from, to, event->total.unit));
    changes.push_back(ratio_text(static_cast<double>(from), static_cast<double>(to)));
    if (from != to && ranges_overlap(*first, *event)) note = "the ranges of the runs overlap";
  }
  values.insert(values.end(), changes.begin(), changes.end());
  values.insert(values.end(), {trusts_text(all_trusts), note});
  return values;
}

/// A table: headings, where "#" marks a column of numbers, and rows.
struct ComparedEvent {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

ComparedEvent compared_events(const std::vector<NamedStat>& stats) {
  ComparedEvent table{headings_of(stats, "event"), {}};
  std::vector<std::string> shown;
  for (const NamedStat& one : stats) {
    for (const Event& event : one.stat->events) {
      if (std::find(shown.begin(), shown.end(), event.total.name.text()) != shown.end()) continue;
      shown.push_back(event.total.name.text());
      table.rows.push_back(event_row(stats, event.total.name));
    }
  }
  return table;
}

std::vector<std::string> metric_row(const std::vector<NamedStat>& stats, const std::string& name) {
  std::vector<std::string> values{name}, changes, all_trusts;
  const Metric* const first = find_metric(*stats.front().stat, name);
  for (const NamedStat& one : stats) {
    const Metric* const metric = find_metric(*one.stat, name);
    values.push_back(metric == nullptr ? "-" : metric_text(metric->ratio.value, metric->unit));
    if (metric != nullptr) all_trusts.emplace_back(tally::name(metric->ratio.trust));
    if (&one == &stats.front()) continue;
    const bool both = metric != nullptr && first != nullptr && metric->ratio.value && first->ratio.value;
    changes.emplace_back();  // differences of ratios mislead: percent of percent
    changes.push_back(both ? ratio_text(*first->ratio.value, *metric->ratio.value) : "");
  }
  values.insert(values.end(), changes.begin(), changes.end());
  values.insert(values.end(), {trusts_text(all_trusts), ""});
  return values;
}

ComparedEvent compared_metrics(const std::vector<NamedStat>& stats) {
  ComparedEvent table{headings_of(stats, "metric"), {}};
  std::vector<std::string> shown;
  for (const NamedStat& one : stats) {
    for (const Metric& metric : one.stat->metrics) {
      if (std::find(shown.begin(), shown.end(), metric.name) != shown.end()) continue;
      shown.push_back(metric.name);
      table.rows.push_back(metric_row(stats, metric.name));
    }
  }
  return table;
}

std::string html_of(const ComparedEvent& compared) {
  HtmlTable table(compared.headings);
  for (const std::vector<std::string>& row : compared.rows) table.add(row);
  return table.html();
}

std::string text_of(const ComparedEvent& compared, std::size_t terminal) {
  if (compared.rows.empty()) return {};
  std::vector<Column> columns;
  for (const std::string& heading : compared.headings)
    columns.push_back(heading.starts_with('#') ? Column{heading.substr(1), Align::right} : Column{heading});
  Grid grid(std::move(columns));
  for (const std::vector<std::string>& row : compared.rows) grid.add(row);
  return grid.text(terminal) + "\n";
}

}  // namespace

std::string stat_comparison(const std::vector<NamedResult>& results) {
  const std::vector<NamedStat> stats = stats_of(results);
  if (stats.size() < 2) return {};
  std::string html = element("h2", "Counts compared");
  for (const NamedStat& one : stats) html += element("p", one.name + ": " + title_of(*one.stat), "soft");
  html += element(
      "p", fmt::format("Differences and ratios are relative to {}; a ratio of 1 means no change.", stats.front().name),
      "soft");
  const std::string metrics = html_of(compared_metrics(stats));
  return html + html_of(compared_events(stats)) +
         (metrics.empty() ? metrics : element("h3", "Metrics compared") + metrics);
}

std::string stat_comparison_table(const std::vector<NamedResult>& results, std::size_t terminal) {
  const std::vector<NamedStat> stats = stats_of(results);
  if (stats.size() < 2 || stats.size() != results.size()) return {};
  std::string text;
  for (const NamedStat& one : stats) text += prose_line(printable(one.name + ": " + title_of(*one.stat)), terminal);
  text += "\n" + text_of(compared_events(stats), terminal) + text_of(compared_metrics(stats), terminal);
  return text + prose_line("differences and ratios are relative to " + printable(stats.front().name), terminal);
}

}  // namespace tally::report
