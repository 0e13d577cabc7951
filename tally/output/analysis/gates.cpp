#include "tally/output/analysis/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/comparison_profiles.hpp"
#include "tally/output/analysis/growth.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/row_growth.hpp"

namespace tally::output {
namespace {

Error wrong_gate(const std::string& text, const char* what) {
  return {Code::bad_usage, fmt::format("gate '{}': {}", printable(text), what),
          "for example: instructions=1%, branch-misses@parse=5%, page-faults=100, real_time=5ms", 0};
}

/// A unit of limits.
struct LimitUnit {
  std::string_view name;
  double factor;
  bool is_time;
};
constexpr LimitUnit limit_units[] = {{"", 1, false},    {"%", 0.01, false}, {"ns", 1, true}, {"us", 1e3, true},
                                     {"µs", 1e3, true}, {"ms", 1e6, true},  {"s", 1e9, true}};

/// The beginning of a message about a gate.
std::string named(const Gate& gate) {
  return fmt::format("{}gate '{}'", gate.origin.empty() ? "" : gate.origin + ": ", printable(gate.text));
}

/// A function, region or benchmark by its name, with or without parameters.
bool is_subject(const std::string& name, const std::string& subject) {
  return name == subject || is_called(name, subject);
}

/// With as many digits as show on which side of the limit the change is.
std::string grew(const ComparedCount& row, const Gate& limit) {
  const auto relative = row.relative_change();
  const std::string where = row.subject.empty() ? "" : " of " + row.subject;
  if (!row.before || !row.after) return fmt::format("{}{}: {}", row.event, where, row.reason);
  if (row.change() == 0) return fmt::format("{}{}: {} as before", row.event, where, count_text(row.before, row));
  const double distance = relative && limit.is_relative ? std::abs(100 * (std::abs(*relative) - limit.limit)) : 1;
  const int digits =
      distance > 0 && distance < 0.01 ? std::min(9, -static_cast<int>(std::floor(std::log10(distance)))) : 2;
  return fmt::format("{}{}: {} → {} ({}{})", row.event, where, count_text(row.before, row), count_text(row.after, row),
                     change_text(row), relative ? fmt::format(", {:+.{}f} %", 100 * *relative, digits) : "");
}

/// "+0.12 % to +3.4 %", or "+1.2 ms to +3.4 ms" in the quantity's unit.
std::string growth_text(const Growth& growth, bool is_relative, const ComparedCount& of) {
  if (is_relative) {
    // As many digits as show on which side of a small limit both ends are: two that are not 0.
    const double largest = 100 * std::max(std::abs(growth.low), std::abs(growth.high));
    const int digits = largest > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(largest))), 2, 9) : 2;
    return fmt::format("{:+.{}f} % to {:+.{}f} %", 100 * growth.low, digits, 100 * growth.high, digits);
  }
  // The ends of an interval of whole numbers need not be whole.
  const bool is_whole = !of.is_fraction;
  return fmt::format("{} to {}", signed_text(is_whole ? std::floor(growth.low) : growth.low, of),
                     signed_text(is_whole ? std::ceil(growth.high) : growth.high, of));
}

GateResult undecided(GateResult result, const std::string& why) {
  result.state = GateResult::State::undecided;
  result.text += fmt::format(", undecided: {}", why);
  return result;
}

GateResult judge(const Gate& gate, const ComparedCount& row, const Comparison& comparison) {
  GateResult result{.gate = gate, .count = &row, .text = grew(row, gate)};
  if (!row.before || !row.after) {
    result.state = GateResult::State::undecided;  // with the reason in its text
    return result;
  }
  for (const Comparable* const side : {comparison.before, comparison.after})
    if (side->incomplete)
      return undecided(std::move(result), fmt::format("the result {} is incomplete: count it again",
                                                      side == comparison.before ? "before" : "after"));
  const RowGrowth found = growth_of(row, comparison, gate.is_relative);
  if (const auto* const why = std::get_if<std::string>(&found.growth)) return undecided(std::move(result), *why);
  const Growth& growth = std::get<Growth>(found.growth);
  const std::string limit = gate.text.substr(gate.text.rfind('=') + 1);
  const bool is_small = growth.low >= -gate.limit && growth.high <= gate.limit;
  if (const std::string why = is_small ? "" : reason_by_cost(row, comparison); !why.empty())
    return undecided(std::move(result), why);
  const LimitVerdict verdict = judge_growth(growth, gate.limit);
  if (verdict == LimitVerdict::unknown) {
    const std::string interval = "the 99 % interval is " + growth_text(growth, gate.is_relative, row);
    if (found.has_bounds) return undecided(std::move(result), interval + "; estimates have this error in every run");
    if (found.is_by_interval) return undecided(std::move(result), interval + "; a longer measurement would decide");
    const auto runs =
        runs_to_decide(found.before, found.after, row.better == Better::more, gate.is_relative, gate.limit);
    return undecided(std::move(result), fmt::format("{}; {} runs on each side would decide", interval,
                                                    runs ? fmt::format("about {}", *runs) : "more than 1,000"));
  }
  if (verdict == LimitVerdict::above) result.state = GateResult::State::failed;
  result.text += fmt::format(", {} {}", verdict == LimitVerdict::above ? "above" : "within", limit);
  if (!growth.basis.empty()) result.text += ", " + growth.basis;
  if (!growth.is_point())
    result.text += fmt::format(" (99 % interval: {})", growth_text(growth, gate.is_relative, row));
  // The interval is of the rounds of a run: other load of the machine moves all of them.
  if (verdict == LimitVerdict::above && found.is_by_interval && is_time(row))
    result.text += "; times of one run each: on a busy machine measure both again";
  return result;
}

/// What to do about a name that no function of `names` has.
std::string function_hint(const std::vector<std::string>& names, const std::string& function) {
  const std::vector<std::string> similar = similar_functions(names, function);
  return similar.empty() ? "`tally report FILE.json --top 0` lists the functions of a profile"
                         : "did you mean " + join(similar, " or ") + "?";
}

/// The functions of this name: as the comparison prints it, else as the table of a profile or other tools do.
std::vector<std::size_t> functions_called(const Comparison& comparison, const std::string& name) {
  std::vector<std::size_t> printed, called;
  for (std::size_t i = 0; i < comparison.all_functions.size(); ++i) {
    const ComparedFunction& one = comparison.all_functions[i];
    if (one.subject == name || one.name == name) printed.push_back(i);
    if (is_called(one.name, name)) called.push_back(i);
  }
  return printed.empty() ? called : printed;
}

std::vector<std::string> names_of(const Comparison& comparison, std::string ComparedCount::*name) {
  std::vector<std::string> names;
  for (const ComparedCount& row : comparison.counts)
    if (!(row.*name).empty() && std::find(names.begin(), names.end(), row.*name) == names.end())
      names.push_back(row.*name);
  return names;
}

/// A gate of one function, in the table of functions.
GateResult judge_function(const Gate& gate, std::size_t index, const Comparison& comparison) {
  const ComparedFunction& function = comparison.all_functions[index];
  if (function.was_there != function.is_there)
    return undecided({.gate = gate, .text = fmt::format("{} of {}", gate.event, function.subject)},
                     fmt::format("only the result {} has it", function.was_there ? "before" : "after"));
  const auto row = std::find_if(
      comparison.functions.begin(), comparison.functions.end(),
      [&](const ComparedCount& count) { return is_event(count.event, gate.event) && count.index == index; });
  if (row != comparison.functions.end()) return judge(gate, *row, comparison);
  const auto same = function_row(comparison, gate.event, index);
  if (!same)
    return undecided({.gate = gate, .text = fmt::format("{} of {}", gate.event, function.subject)},
                     "a profile does not have this event: name it with -e");
  const auto unchanged = std::make_shared<const ComparedCount>(*same);
  GateResult result = judge(gate, *unchanged, comparison);
  result.unchanged = unchanged;
  return result;
}

/// A gate of functions: every function of the name.
Result<void> judge_functions(const Gate& gate, const Comparison& comparison, std::vector<GateResult>& results) {
  if (comparison.before->profile == nullptr || comparison.after->profile == nullptr) {
    const std::vector<std::string> subjects = names_of(comparison, &ComparedCount::subject);
    return fail(Code::bad_usage, fmt::format("{}: '{}' is not in both results", named(gate), printable(gate.function)),
                subjects.empty() ? "functions are in profiles: `tally profile -o FILE.json -- COMMAND` writes one, and "
                                   "`tally bench` with `profile = true`"
                                 : "in both results: " + join(subjects, ", "));
  }
  const auto functions = functions_called(comparison, gate.function);
  if (functions.empty()) {
    std::vector<std::string> names;
    for (const ComparedFunction& function : comparison.all_functions) names.push_back(function.name);
    return fail(Code::bad_usage, fmt::format("{}: no function is called '{}'", named(gate), printable(gate.function)),
                function_hint(names, gate.function));
  }
  for (const std::size_t function : functions) results.push_back(judge_function(gate, function, comparison));
  return {};
}

/// The rows that a gate limits: those of its subject; without one, the whole program, or every benchmark.
std::vector<const ComparedCount*> limited_rows(const Gate& gate, const Comparison& comparison) {
  std::vector<const ComparedCount*> rows, parts;
  for (const ComparedCount& row : comparison.counts) {
    if (!is_event(row.event, gate.event)) continue;
    if (gate.function.empty() ? row.subject.empty() : is_subject(row.subject, gate.function)) rows.push_back(&row);
    parts.push_back(&row);
  }
  if (rows.empty() && gate.function.empty()) return parts;
  if (gate.function.empty()) rows.resize(1);
  return rows;
}

Result<void> evaluate_one(const Gate& gate, const Comparison& comparison, std::vector<GateResult>& results) {
  if (auto event = check_event(gate, names_of(comparison, &ComparedCount::event),
                               comparison.chosen.empty() ? "both results" : "-e");
      !event)
    return event;
  const auto row = std::find_if(comparison.counts.begin(), comparison.counts.end(),
                                [&](const ComparedCount& count) { return is_event(count.event, gate.event); });
  if (auto suits = check_unit(gate, is_time(*row)); !suits) return suits;
  const auto rows = limited_rows(gate, comparison);
  for (const ComparedCount* const row : rows) results.push_back(judge(gate, *row, comparison));
  if (!rows.empty()) return {};
  return judge_functions(gate, comparison, results);
}

}  // namespace

Result<Gate> parse_gate(const std::string& text, bool is_hard) {
  Gate gate{.text = text, .is_hard = is_hard};
  const auto equals = text.rfind('=');
  if (equals == std::string::npos) return fail(wrong_gate(text, "missing '=' and a limit"));
  const std::string name = text.substr(0, equals);
  const std::string limit = text.substr(equals + 1);
  const auto at = name.find('@');
  gate.event = name.substr(0, at);
  if (at != std::string::npos) {
    gate.function = name.substr(at + 1);
    if (gate.function.empty()) return fail(wrong_gate(text, "missing function after '@'"));
  }
  if (gate.event.empty()) return fail(wrong_gate(text, "missing event before '='"));
  const char* const limit_end = limit.data() + limit.size();
  const auto [end, error] = std::from_chars(limit.data(), limit_end, gate.limit);
  if (error != std::errc{} || !std::isfinite(gate.limit) || gate.limit < 0)
    return fail(wrong_gate(text, "the limit is not a number that is 0 or more"));
  const std::string_view unit(end, limit_end);
  const auto known = std::find_if(std::begin(limit_units), std::end(limit_units),
                                  [&](const LimitUnit& limit_unit) { return limit_unit.name == unit; });
  if (known == std::end(limit_units)) return fail(wrong_gate(text, "the unit of the limit is not %, s, ms, us or ns"));
  gate.limit *= known->factor;
  gate.is_relative = unit == "%";
  gate.is_time = known->is_time;
  return gate;
}

Error joined_errors(const std::vector<Error>& errors) {
  std::vector<std::string> messages, hints;
  for (const Error& error : errors) {
    messages.push_back(error.message);
    if (!error.hint.empty() && std::find(hints.begin(), hints.end(), error.hint) == hints.end())
      hints.push_back(error.hint);
  }
  return {errors.front().code, join(messages, "\n"), join(hints, "\n"), errors.front().os_errno};
}

Result<void> check_event(const Gate& gate, const std::vector<std::string>& events, const std::string& where) {
  if (std::any_of(events.begin(), events.end(), [&](const std::string& one) { return is_event(one, gate.event); }))
    return {};
  const auto metrics = metric_table();
  const bool is_metric = std::any_of(metrics.begin(), metrics.end(),
                                     [&](const MetricDefinition& metric) { return metric.name == gate.event; });
  return fail(Code::bad_usage,
              fmt::format("{}: the {} is not in {}", named(gate), is_metric ? "metric" : "event", where),
              fmt::format("{}in {}: {}",
                          is_metric ? "`tally stat` stores metrics, and `tally profile` only events; " : "events ",
                          where, join(events, ", ")));
}

Result<void> check_function(const Gate& limit, const Comparable& result, const std::string& where) {
  if (limit.function.empty()) return {};
  std::vector<std::string> names;
  for (const Measure& measure : result.measures)
    if (!measure.subject.empty()) names.push_back(measure.subject);
  if (result.profile != nullptr) {
    for (const result::ProfileFunction& function : result.profile->functions) names.push_back(function.name);
    for (const result::PythonFunction& function : result.profile->python)
      names.insert(names.end(), {function.name, fmt::format("{} ({})", function.name, file_name(function.file))});
  }
  if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_subject(name, limit.function); }))
    return {};
  return fail(
      Code::bad_usage,
      fmt::format("{}: no function or region of {} is called '{}'", named(limit), where, printable(limit.function)),
      names.empty() ? "it has none" : function_hint(names, limit.function));
}

Result<void> check_unit(const Gate& gate, bool is_of_time) {
  if (gate.is_relative || gate.is_time == is_of_time) return {};
  if (is_of_time)
    return fail(Code::bad_usage, fmt::format("{}: the limit of a time needs a unit", named(gate)),
                fmt::format("for example: {0}=5ms (or s, us, ns), or a percentage: {0}=5%", gate.event));
  return fail(Code::bad_usage, fmt::format("{}: '{}' is not a time", named(gate), printable(gate.event)),
              fmt::format("for example: {0}=100, or a percentage: {0}=5%", gate.event));
}

std::string_view name(GateResult::State state) {
  return state == GateResult::State::passed ? "passed" : state == GateResult::State::failed ? "failed" : "undecided";
}

Result<std::vector<GateResult>> evaluate(const std::vector<Gate>& gates, const Comparison& comparison) {
  std::vector<GateResult> results;
  std::vector<Error> errors;
  for (const Gate& gate : gates)
    if (const auto evaluated = evaluate_one(gate, comparison, results); !evaluated) errors.push_back(evaluated.error());
  if (!errors.empty()) return fail(joined_errors(errors));
  return results;
}

Result<JudgedComparison> compare_and_judge(const Comparable& before, const Comparable& after,
                                           const std::vector<Gate>& gates, bool forced,
                                           const std::vector<std::string>& chosen) {
  auto comparison = compare(before, after, forced, chosen);
  if (!comparison) return fail(comparison.error());
  JudgedComparison judged{.comparison = *std::move(comparison), .gates = {}, .provenance = {}};
  auto results = evaluate(gates, judged.comparison);
  if (!results) return fail(results.error());
  judged.gates = *std::move(results);
  return judged;
}

}  // namespace tally::output
