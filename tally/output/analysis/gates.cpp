#include "tally/output/analysis/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::report {
namespace {

Error wrong_gate(const std::string& text, const char* what) {
  return {Code::bad_usage, fmt::format("gate '{}': {}", printable(text), what),
          "for example: instructions=1%, branch-misses@parse=5%, page-faults=100", 0};
}

/// The beginning of a message about a gate.
std::string named(const Gate& gate) {
  return fmt::format("{}gate '{}'", gate.origin.empty() ? "" : gate.origin + ": ", printable(gate.text));
}

bool is_event(const std::string& name, const std::string& event) {
  return name == event || name.substr(0, name.find(':')) == event;
}

/// A function by its name, with or without parameters.
bool is_function(const ComparedCount& row, const std::string& function) {
  return row.function == function || row.function.substr(0, row.function.find('(')) == function;
}

std::string grew(const ComparedCount& row) {
  const auto relative = row.relative_change();
  const std::string where = row.function.empty() ? "" : " of " + row.function;
  if (!row.before || !row.after) return fmt::format("{}{}: {}", row.event, where, row.reason);
  if (row.change() == 0) return fmt::format("{}{}: {} as before", row.event, where, value_text(*row.before, row.unit));
  return fmt::format(
      "{}{}: {} → {} ({}{}{})", row.event, where, value_text(*row.before, row.unit), value_text(*row.after, row.unit),
      row.change() > 0   ? "+"
      : row.change() < 0 ? "-"
                         : "",
      value_text(std::abs(row.change()), row.unit), relative ? fmt::format(", {:+.2f} %", 100 * *relative) : "");
}

bool is_above(const Gate& gate, const ComparedCount& row) {
  if (!row.before || !row.after) return true;
  if (!gate.is_relative) return static_cast<double>(row.change()) > gate.limit;
  // Anything is infinitely more than nothing.
  if (*row.before == 0) return row.change() > 0;
  return *row.relative_change() > gate.limit;
}

GateResult judge(const Gate& gate, const ComparedCount& row) {
  GateResult result{.gate = gate, .count = &row, .text = grew(row)};
  const bool above = is_above(gate, row);
  const std::string limit = gate.text.substr(gate.text.rfind('=') + 1);
  if (!above) {
    result.text += fmt::format(", within {}", limit);
  } else if (row.verdict == Verdict::worse) {
    result.state = GateResult::State::failed;
    result.text += fmt::format(", above {}", limit);
  } else if (row.verdict == Verdict::undecided) {
    result.state = GateResult::State::undecided;
    result.text += fmt::format(", undecided: {}", row.reason);
  } else {
    result.text += ", may be chance";
  }
  return result;
}

Result<GateResult> evaluate_one(const Gate& gate, const Comparison& comparison) {
  const auto counted = std::find_if(comparison.counts.begin(), comparison.counts.end(),
                                    [&](const ComparedCount& row) { return is_event(row.event, gate.event); });
  if (counted == comparison.counts.end()) {
    std::vector<std::string> events;
    for (const ComparedCount& row : comparison.counts) events.push_back(row.event);
    return fail(check_event(gate, events, "both results").error());
  }
  if (gate.function.empty()) return judge(gate, *counted);
  if (comparison.functions.empty() && counted->change() != 0)
    return fail(Code::bad_usage, named(gate) + ": a function needs two profiles",
                "`tally profile -o FILE.json -- COMMAND` writes one");
  const auto row = std::find_if(
      comparison.functions.begin(), comparison.functions.end(),
      [&](const ComparedCount& one) { return one.event == counted->event && is_function(one, gate.function); });
  if (row == comparison.functions.end())
    return GateResult{.gate = gate, .text = fmt::format("{} of {}: unchanged", counted->event, gate.function)};
  return judge(gate, *row);
}

}  // namespace

Result<Gate> parse_gate(const std::string& text, bool is_hard) {
  Gate gate{.text = text, .is_hard = is_hard};
  const auto equals = text.rfind('=');
  if (equals == std::string::npos) return fail(wrong_gate(text, "missing '=' and a limit"));
  const std::string name = text.substr(0, equals);
  std::string limit = text.substr(equals + 1);
  const auto at = name.find('@');
  gate.event = name.substr(0, at);
  if (at != std::string::npos) {
    gate.function = name.substr(at + 1);
    if (gate.function.empty()) return fail(wrong_gate(text, "missing function after '@'"));
  }
  if (gate.event.empty()) return fail(wrong_gate(text, "missing event before '='"));
  if (limit.ends_with('%')) {
    gate.is_relative = true;
    limit.pop_back();
  }
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), gate.limit);
  if (error != std::errc{} || end != limit.data() + limit.size() || !std::isfinite(gate.limit) || gate.limit < 0)
    return fail(wrong_gate(text, "the limit is not a number that is 0 or more"));
  if (gate.is_relative) gate.limit /= 100;
  return gate;
}

Result<void> check_event(const Gate& gate, const std::vector<std::string>& events, const std::string& where) {
  if (std::any_of(events.begin(), events.end(), [&](const std::string& one) { return is_event(one, gate.event); }))
    return {};
  return fail(Code::bad_usage, fmt::format("{}: the event is not in {}", named(gate), where),
              fmt::format("events in {}: {}", where, join(events, ", ")));
}

std::string_view name(GateResult::State state) {
  return state == GateResult::State::passed ? "passed" : state == GateResult::State::failed ? "failed" : "undecided";
}

Result<std::vector<GateResult>> evaluate(const std::vector<Gate>& gates, const Comparison& comparison) {
  std::vector<GateResult> results;
  for (const Gate& gate : gates) {
    auto result = evaluate_one(gate, comparison);
    if (!result) return fail(result.error());
    results.push_back(*std::move(result));
  }
  return results;
}

}  // namespace tally::report
