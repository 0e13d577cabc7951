#include "tally/output/html/windows_page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/result/compact_columns.hpp"

namespace tally::output {
namespace {

using Json = nlohmann::ordered_json;
using result::WindowSeries;

// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() * 4 / 3 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += i + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

// Combines every N rows into one, with the location and time of the last. Other columns are summed.
template <class T>
std::vector<T> every_last(const std::vector<T>& column, std::size_t together) {
  std::vector<T> made;
  for (std::size_t end = std::min(together, column.size()); !column.empty();
       end = std::min(end + together, column.size())) {
    made.push_back(column[end - 1]);
    if (end == column.size()) break;
  }
  return made;
}
std::vector<std::int64_t> sums(const std::vector<std::int64_t>& column, std::size_t together) {
  std::vector<std::int64_t> made;
  for (std::size_t i = 0; i < column.size(); i += together) {
    const auto end = column.begin() + static_cast<std::ptrdiff_t>(std::min(i + together, column.size()));
    made.push_back(std::accumulate(column.begin() + static_cast<std::ptrdiff_t>(i), end, std::int64_t{0}));
  }
  return made;
}

void join_rows(WindowSeries& series, std::size_t together) {
  for (auto* column : {&series.numbers, &series.times, &series.cpus, &series.addresses, &series.triggers})
    *column = every_last(*column, together);
  for (auto* column : {&series.functions, &series.lines}) *column = every_last(*column, together);
  for (auto* column : {&series.lengths, &series.lost, &series.partial}) *column = sums(*column, together);
  for (auto& column : series.counts) column = sums(column, together);
}

// JavaScript numbers have 53 bits, so addresses are split in halves.
std::string columns_of(const WindowSeries& series, const std::vector<std::int64_t>& phases) {
  std::vector<std::int64_t> high, low;
  for (const std::int64_t address : series.addresses) {
    high.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(address) >> 32));
    low.push_back(address & 0xffffffff);
  }
  std::string bytes;
  for (const auto* column : {&series.numbers, &series.times, &series.lengths, &std::as_const(high), &std::as_const(low),
                             &series.triggers, &series.lost, &series.partial, &phases})
    put_column(*column, bytes);
  for (const auto& column : series.counts) put_column(column, bytes);
  for (const auto* column : {&series.functions, &series.lines})
    if (!column->empty()) put_column(std::vector<std::int64_t>(column->begin(), column->end()), bytes);
  return bytes;
}

// Only "</" can end a script element; names come from files and programs.
std::string script_json(const Json& json) {
  std::string text = json_text(json);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

bool varies(const result::Windows& windows, std::size_t place) {
  std::optional<std::int64_t> first;
  for (const WindowSeries& series : windows.series)
    for (std::size_t row = 0; row < series.rows(); ++row)
      if (series.triggers[row] >= 0 && series.counts[place][row] != first.value_or(series.counts[place][row]))
        return true;
      else if (series.triggers[row] >= 0)
        first = series.counts[place][row];
  return false;
}

// Of several equivalent metrics, one is shown initially.
bool is_shown(const BoundMetric& metric) {
  const std::string_view name = metric.name;
  for (const std::string_view other : {"CPI", "core-ref-ratio", "loads-per-store"})
    if (name.starts_with(other)) return false;
  return name.find("misses-per-instruction") == std::string_view::npos;
}

// The quantities that can be drawn: each count, and each metric as a JavaScript term over counts.
Json quantities_of(const result::Windows& windows) {
  Json events = Json::array(), metrics = Json::array();
  const std::vector<BoundMetric> bound = metrics_of(windows);
  for (const BoundMetric& metric : bound) {
    std::vector<std::string> terms;
    for (const std::size_t place : metric.events) terms.push_back(fmt::format("c({})", place));
    metrics.push_back({{"name", metric.name},
                       {"unit", metric.unit},
                       {"formula", metric.formula.text()},
                       {"term", metric.formula.renamed(terms).text()},
                       {"shown", is_shown(metric)}});
  }
  for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
    const auto place = windows.head.places[i];
    if (!place) continue;
    const auto& event = windows.head.events[i];
    const bool is_covered = std::any_of(bound.begin(), bound.end(), [&](const BoundMetric& metric) {
      return is_shown(metric) && !metric.formula.names().empty() && metric.formula.names().front() == event.name.text();
    });
    events.push_back({{"name", event.name.text()},
                      {"unit", event.unit == Unit::nanoseconds ? "ns"
                               : event.unit == Unit::bytes     ? "bytes"
                                                               : ""},
                      {"term", fmt::format("c({})", *place)},
                      {"shown", !is_covered && varies(windows, *place)}});
  }
  for (Json& event : events) metrics.push_back(std::move(event));
  return metrics;
}

// The source of each window's instructions: -1: its length; else an index in its counts; or null.
Json instructions_column(const result::Windows& windows) {
  const auto& triggers = windows.head.triggers;
  if (triggers.size() == 1 && triggers[0].event.base == "instructions") return -1;
  for (std::size_t i = 0; i < windows.head.events.size(); ++i)
    if (windows.head.places[i] && windows.head.events[i].name.base == "instructions") return *windows.head.places[i];
  return nullptr;
}

}  // namespace

FittingWindows fitting(result::Windows windows, const WindowLimits& limits) {
  FittingWindows made;
  auto& series = windows.series;
  if (series.size() > limits.series) {
    std::stable_sort(series.begin(), series.end(), [](const auto& a, const auto& b) { return a.rows() > b.rows(); });
    made.notices.push_back(
        fmt::format("shows {1} of {0} threads: those with the most windows", series.size(), limits.series));
    series.resize(limits.series);
  }
  const std::size_t rows = windows.rows();
  if (rows > limits.rows) {
    made.together = (rows + limits.rows - 1) / limits.rows;
    for (WindowSeries& window_series : series) join_rows(window_series, made.together);
    made.notices.push_back(fmt::format(
        "{} windows are too many for a page: each row combines {} windows of a thread and has the sums of their "
        "counts",
        thousands(static_cast<std::int64_t>(rows)), made.together));
  }
  made.windows = std::move(windows);
  return made;
}

std::vector<BoundMetric> metrics_of(const result::Windows& windows) {
  std::vector<EventName> names;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < windows.head.events.size(); ++i) {
    if (!windows.head.places[i]) continue;
    names.push_back(windows.head.events[i].name);
    places.push_back(*windows.head.places[i]);
  }
  std::vector<BoundMetric> all;
  for (const MetricChoice& metric : unasked_metrics()) {
    for (BoundMetric& bound : bind_metric(metric, names)) {
      for (std::size_t& event : bound.events) event = places[event];
      all.push_back(std::move(bound));
    }
  }
  return all;
}

std::string windows_scripts(const FittingWindows& fitting, const Phases& phases) {
  const result::Windows& windows = fitting.windows;
  Json head{{"quantities", quantities_of(windows)}, {"phases", phases.phases.size()}, {"together", fitting.together}};
  head["triggers"] = Json::array();
  for (const result::WindowTrigger& trigger : windows.head.triggers) head["triggers"].push_back(trigger.event.text());
  head["counts"] = windows.series.empty() ? 0 : windows.series.front().counts.size();
  head["instructions"] = instructions_column(windows);
  if (windows.head.named) head["words"] = windows.words;
  head["series"] = Json::array();
  std::string columns;
  for (std::size_t i = 0; i < windows.series.size(); ++i) {
    const WindowSeries& series = windows.series[i];
    head["series"].push_back(
        {{"program", series.program}, {"process", series.pid}, {"thread", series.tid}, {"rows", series.rows()}});
    columns +=
        "<script type=\"text/plain\" data-columns>" + base64(columns_of(series, phases.of_row[i])) + "</script>\n";
  }
  return "<script type=\"application/json\" data-head>" + script_json(head) + "</script>\n" + columns;
}

}  // namespace tally::output
