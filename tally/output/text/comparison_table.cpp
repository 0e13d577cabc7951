// The table of `tally compare`, and what the other formats of it share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/output/formats/comparison.hpp"
#include "tally/output/text/grid.hpp"
#include "tally/output/text/metrics.hpp"

namespace tally::report {
namespace {

std::string note_of(const ComparedCount& count) {
  if (!count.reason.empty()) return count.reason;
  return count.probability ? fmt::format("p = {:.3g}", *count.probability) : "";
}

void add_counts(Grid& grid, const std::vector<const ComparedCount*>& counts) {
  for (const ComparedCount* const count : counts)
    grid.add({count->event, count->subject, count_text(count->before, *count), count_text(count->after, *count),
              change_text(*count), relative_text(*count), interval_text(*count), std::string(name(count->verdict)),
              count->trust, note_of(*count)});
}

/// "+1,234"; "0".
std::string signed_text(Value value, const ComparedCount& of) {
  if (value == 0) return "0";
  return (value > 0 ? "+" : "-") + count_text(std::abs(value), of);
}

std::string rows_table(const Comparison& comparison, const ComparisonStyle& style) {
  const auto rows = shown_rows(comparison, style);
  if (rows.empty()) return "";
  Grid grid({{rows.front()->event, Align::right},
             {"", Align::right},
             {"of the program", Align::right},
             {"before", Align::right},
             {"after", Align::right},
             {"verdict"},
             {std::string(name(style.rows)), Align::left, 0, true},
             {"cause"}});
  for (const ComparedCount* const one : rows)
    grid.add({change_text(*one), relative_text(*one), share_of_whole(comparison, *one), count_text(one->before, *one),
              count_text(one->after, *one), std::string(name(one->verdict)), one->subject, one->label});
  return "\n" + grid.text(style.terminal);
}

std::string gate_lines(const std::vector<GateResult>& gates, std::size_t terminal) {
  std::string text;
  for (const GateResult& gate : gates) {
    const char* const state = gate.state == GateResult::State::passed      ? "passed"
                              : gate.state == GateResult::State::undecided ? "undecided"
                              : gate.gate.is_hard                          ? "FAILED"
                                                                           : "warning";
    text += prose_line(fmt::format("{}: {}", state, printable(gate.text)), terminal);
  }
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string count_text(const std::optional<Value>& value, const ComparedCount& of) {
  if (!value) return "-";
  if (of.is_fraction && of.fraction_unit == "ns") return fmt::format("{:.4g} ns", static_cast<double>(*value));
  return of.is_fraction ? metric_text(static_cast<double>(*value), of.fraction_unit)
                        : value_text(static_cast<std::int64_t>(*value), of.unit);
}

std::string change_text(const ComparedCount& count) {
  return count.before && count.after ? signed_text(count.change(), count) : "";
}

std::string interval_text(const ComparedCount& count) {
  if (!count.interval) return "";
  return signed_text(count.interval->low, count) + " … " + signed_text(count.interval->high, count);
}

std::string relative_text(const ComparedCount& count) {
  const auto relative = count.relative_change();
  return relative && *relative != 0 ? fmt::format("{:+.2f} %", 100 * *relative) : "";
}

std::vector<const ComparedCount*> shown_counts(const Comparison& comparison, const ComparisonStyle& style) {
  std::vector<const ComparedCount*> shown;
  for (const ComparedCount& count : comparison.counts)
    if (style.shows_unchanged || count.verdict == Verdict::better || count.verdict == Verdict::worse ||
        (count.verdict == Verdict::undecided && count.change() != 0 && !count.is_metric))
      shown.push_back(&count);
  return shown;
}

std::string_view name(ComparedRows rows) {
  switch (rows) {
    case ComparedRows::lines: return "line";
    case ComparedRows::processes: return "process";
    case ComparedRows::threads: return "thread";
    case ComparedRows::functions: break;
  }
  return "function";
}

std::vector<const ComparedCount*> shown_rows(const Comparison& comparison, const ComparisonStyle& style) {
  std::vector<const ComparedCount*> shown;
  const std::vector<ComparedCount>& rows = comparison.rows(style.rows);
  for (const ComparedCount& row : rows)
    if (row.event == rows.front().event && (style.most_rows == 0 || shown.size() < style.most_rows) &&
        (style.shows_unchanged || row.verdict != Verdict::same))
      shown.push_back(&row);
  return shown;
}

std::string share_of_whole(const Comparison& comparison, const ComparedCount& row) {
  for (const ComparedCount& count : comparison.counts)
    if (count.event == row.event && count.subject.empty() && count.before && *count.before != 0)
      return fmt::format("{:+.2f} %", static_cast<double>(100 * row.change() / *count.before));
  return "";
}

bool JudgedComparison::any(GateResult::State state, bool is_hard) const {
  return std::any_of(gates.begin(), gates.end(),
                     [&](const GateResult& gate) { return gate.state == state && gate.gate.is_hard == is_hard; });
}

namespace {

// "; largest change: parse (+8,000)": the function that changed most by the event of a gate of the whole program.
std::string largest_change(const Comparison& comparison, const ComparedCount* count) {
  if (count == nullptr || !count->subject.empty()) return "";
  for (const ComparedCount& function : comparison.functions)
    if (function.event == count->event && function.verdict != Verdict::same)
      return fmt::format("; largest change: {} ({})", function.subject, change_text(function));
  return "";
}

}  // namespace

std::string JudgedComparison::verdict() const {
  for (const auto state : {GateResult::State::failed, GateResult::State::undecided})
    for (const GateResult& gate : gates)
      if (gate.state == state && gate.gate.is_hard)
        return fmt::format("{}: {}{}", state == GateResult::State::failed ? "failed" : "undecided", gate.text,
                           largest_change(comparison, gate.count));
  if (!gates.empty()) return "passed: every gate";
  for (const auto wanted : {Verdict::worse, Verdict::better, Verdict::undecided})
    for (const ComparedCount& count : comparison.counts)
      if (count.verdict == wanted && count.change() != 0 && !count.is_metric)
        return fmt::format("{}: {}{} {}{}", name(wanted), count.event,
                           count.subject.empty() ? "" : " of " + count.subject, change_text(count),
                           relative_text(count).empty() ? "" : fmt::format(" ({})", relative_text(count)));
  return "same: no count differs";
}

std::string comparison_table(const JudgedComparison& judged, const ComparisonStyle& style) {
  const Comparison& comparison = judged.comparison;
  const auto counts = shown_counts(comparison, style);
  Grid grid({{"event"},
             {"of"},
             {"before", Align::right},
             {"after", Align::right},
             {"change", Align::right},
             {"", Align::right},
             {"99 % interval", Align::right},
             {"verdict"},
             {"trust"},
             {"note"}});
  add_counts(grid, counts);
  std::string text = "\n" + (counts.empty() ? std::string() : grid.text(style.terminal));
  const auto is_event = [](const ComparedCount& count) { return !count.is_metric; };
  const auto events = std::count_if(comparison.counts.begin(), comparison.counts.end(), is_event);
  const auto shown = std::count_if(counts.begin(), counts.end(), [&](const auto* count) { return is_event(*count); });
  if (const std::int64_t left = events - shown; left > 0)
    text += prose_line(
        fmt::format(
            "{} without change{}", plural(left, "event", "events"),
            style.shows_unchanged || style.all_option.empty() ? "" : fmt::format(" ({} shows them)", style.all_option)),
        style.terminal);
  text += rows_table(comparison, style);
  for (const std::string& warning : comparison.warnings)
    text += prose_line("note: " + printable(warning), style.terminal);
  return text + gate_lines(judged.gates, style.terminal) + "\n" +
         prose_line(printable(judged.verdict()), style.terminal);
}

}  // namespace tally::report
