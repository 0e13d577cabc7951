#include "tally/core/count/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/core/count/likwid_groups.hpp"

namespace tally {
namespace {

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

MetricChoice choice_of(const MetricDefinition& line) {
  // Cannot fail: a test parses every formula of the table.
  return {std::string(line.name),
          std::string(line.unit),
          std::string(line.row_event),
          *Formula::parse(line.formula),
          Mode::user,
          false};
}

Result<MetricChoice> named(const std::string& text) {
  const auto [name, mode] = split_event_name(text);
  std::vector<std::string> names;
  for (const MetricDefinition& line : metric_table()) {
    if (same_but_for_case(line.name, name)) {
      MetricChoice choice = choice_of(line);
      choice.mode = mode.value_or(Mode::user);
      return choice;
    }
    names.emplace_back(line.name);
  }
  if (const std::string_view hint = hint_of_likwid_group(name); !hint.empty())
    return fail(Code::bad_usage, fmt::format("unknown metric '{}'", printable(name)), std::string(hint));
  const auto near = nearest(name, names);
  return fail(Code::bad_usage, fmt::format("unknown metric '{}'", printable(name)),
              near.empty() ? "`tally stat --metrics list` lists them; NAME=FORMULA defines your own"
                           : "did you mean " + join(near, ", ") + "?");
}

Result<MetricChoice> own(const std::string& text) {
  const std::size_t sign = text.find('=');
  if (text.substr(0, sign).find(',') != std::string::npos) {
    return fail(Code::bad_usage, fmt::format("'{}' mixes names and a formula", printable(text)),
                "give each formula its own --metrics");
  }
  auto formula = Formula::parse(trimmed(text.substr(sign + 1)));
  if (!formula) return fail(formula.error());
  if (formula->names().empty()) {
    return fail(Code::bad_usage, fmt::format("the metric '{}' contains no event", printable(text)),
                "for example: --metrics 'mine=loads / stores'");
  }
  return MetricChoice{trimmed(text.substr(0, sign)), "", "", std::move(*formula), Mode::user, false};
}

// User mode is the default, so the name omits it.
std::string name_in_mode(const std::string& name, const std::optional<Mode>& mode) {
  return EventName{name, mode == Mode::user ? std::nullopt : mode}.text();
}

bool is_own(const std::string& text) {
  const std::size_t sign = text.find('=');
  return sign != std::string::npos && sign > 0;
}

// Finds a formula's event in the list: in the metric's mode, or as the formula names it.
std::optional<std::size_t> index_of(const EventName& name, const std::optional<Mode>& mode,
                                    const std::vector<EventName>& events) {
  for (const EventName& full : {EventName{name.base, name.mode ? name.mode : mode}, name}) {
    const auto found = std::find(events.begin(), events.end(), full);
    if (found != events.end()) return static_cast<std::size_t>(found - events.begin());
  }
  return std::nullopt;
}

std::optional<BoundMetric> bound(const MetricChoice& metric, const std::optional<Mode>& mode,
                                 const std::vector<EventName>& events) {
  BoundMetric result;
  std::vector<std::string> names;
  bool uses_mode = false;
  for (const std::string& text : metric.formula.names()) {
    const EventName name = split_event_name(text);
    const auto index = index_of(name, mode, events);
    if (!index) return std::nullopt;
    uses_mode = uses_mode || events[*index] != name;
    result.events.push_back(*index);
    names.push_back(events[*index].text());
  }
  // Software events have no mode: a formula of them alone is resolved once.
  if (uses_mode != mode.has_value()) return std::nullopt;
  result.name = name_in_mode(metric.name, mode);
  result.unit = metric.unit;
  result.formula = metric.formula.renamed(names);
  return result;
}

}  // namespace

Result<std::vector<MetricChoice>> parse_metrics(const std::vector<std::string>& lists) {
  std::vector<MetricChoice> metrics;
  const auto add = [&](MetricChoice choice) {
    choice.asked = true;
    if (std::find(metrics.begin(), metrics.end(), choice) == metrics.end()) metrics.push_back(std::move(choice));
  };
  for (const std::string& list : lists) {
    // A formula may contain commas (in an event's description), so it is alone in its list.
    for (const std::string& word : is_own(list) ? std::vector<std::string>{list} : split(list, ',')) {
      if (trimmed(word) == "all") {
        for (const MetricDefinition& line : metric_table()) add(choice_of(line));
        continue;
      }
      auto choice = is_own(list) ? own(list) : named(trimmed(word));
      if (!choice) return fail(choice.error());
      add(std::move(*choice));
    }
  }
  return metrics;
}

std::vector<MetricChoice> unasked_metrics(const std::vector<EventName>* rows) {
  std::vector<MetricChoice> metrics;
  for (const MetricDefinition& line : metric_table()) {
    const auto is_row = [&](const EventName& event) { return event.base == line.row_event; };
    if (rows == nullptr || std::any_of(rows->begin(), rows->end(), is_row)) metrics.push_back(choice_of(line));
  }
  return metrics;
}

std::string MetricChoice::full_name() const { return name_in_mode(name, mode); }

std::vector<BoundMetric> bind_metric(const MetricChoice& metric, const std::vector<EventName>& events) {
  std::vector<std::optional<Mode>> modes{std::nullopt};
  if (metric.asked) {
    modes.push_back(metric.mode);
  } else {
    for (const EventName& event : events)
      if (std::find(modes.begin(), modes.end(), event.mode) == modes.end()) modes.push_back(event.mode);
  }
  std::vector<BoundMetric> result;
  for (const std::optional<Mode>& mode : modes) {
    if (auto one = bound(metric, mode, events)) result.push_back(std::move(*one));
  }
  return result;
}

}  // namespace tally
