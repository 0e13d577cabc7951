// The table of `tally compare`, and what the other formats of it share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/metric_text.hpp"

namespace tally::output {
namespace {

std::string note_of(const ComparedCount& count) {
  if (!count.reason.empty()) return count.reason;
  return count.probability ? fmt::format("p = {:.3g}", *count.probability) : "";
}

/// Whether a gate limits the row, and the row is within all its limits.
bool is_within_limits(const ComparedCount& count, const std::vector<GateResult>& gates) {
  bool is_limited = false;
  for (const GateResult& gate : gates) {
    if (gate.count != &count) continue;
    if (gate.state != GateResult::State::passed) return false;
    is_limited = true;
  }
  return is_limited;
}

/// Whether an event may have changed, or one result does not have its value.
bool is_undecided_change(const ComparedCount& count) {
  return count.verdict == Verdict::undecided && !count.is_metric &&
         (count.change() != 0 || count.before.has_value() != count.after.has_value());
}

/// "2 events without change (--all shows them)": the events that the table does not show; empty if it shows all.
std::string hidden_text(const JudgedComparison& judged, const ComparisonStyle& style) {
  std::int64_t within = 0, same = 0, uncounted = 0;
  const auto shown = shown_counts(judged, style);
  for (const ComparedCount& count : judged.comparison.counts) {
    if (count.is_metric || std::find(shown.begin(), shown.end(), &count) != shown.end()) continue;
    const bool is_counted = count.before || count.after;
    ++(!is_counted ? uncounted : count.change() != 0 && is_within_limits(count, judged.gates) ? within : same);
  }
  std::vector<std::string> texts;
  if (within > 0) texts.push_back(plural(within, "more change", "more changes") + " within the limit");
  if (same > 0) texts.push_back(plural(same, "event", "events") + " without change");
  if (uncounted > 0) texts.push_back(plural(uncounted, "event", "events") + " not counted in either result");
  if (texts.empty() || style.shows_unchanged || style.all_option.empty()) return join(texts, ", ");
  return fmt::format("{} ({} shows them)", join(texts, ", "), style.all_option);
}

/// Adds the rows; with `notes`, reasons become "[1]" after the trust, and are added to these.
void add_counts(Grid& grid, const std::vector<const ComparedCount*>& counts, std::vector<std::string>* notes) {
  const std::vector<std::string> subjects = subjects_of(counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ComparedCount* const count = counts[i];
    std::string note = note_of(*count), trust = count->trust;
    if (notes != nullptr && !count->reason.empty()) {
      auto known = std::find(notes->begin(), notes->end(), note);
      if (known == notes->end()) known = notes->insert(known, note);
      trust += fmt::format(" [{}]", known - notes->begin() + 1);
      note.clear();
    }
    grid.add({count->event, subjects[i], count_text(count->before, *count), count_text(count->after, *count),
              change_text(*count), relative_text(*count), interval_text(*count), std::string(name(count->verdict)),
              std::move(trust), std::move(note)});
  }
}

std::string rows_table(const Comparison& comparison, const ComparisonStyle& style) {
  const auto rows = shown_rows(comparison, style);
  if (rows.empty()) return "";
  Grid grid({{rows.front()->event, Align::right},
             key_column("", Align::right),
             {"of the program", Align::right},
             {"before", Align::right},
             {"after", Align::right},
             key_column("verdict"),
             {std::string(name(style.rows)), Align::left, usual_name_width, true},
             {"cause"}});
  const std::vector<std::string> subjects = subjects_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedCount& row = *rows[i];
    grid.add({change_text(row), relative_text(row), share_of_whole(comparison, row), count_text(row.before, row),
              count_text(row.after, row), std::string(name(row.verdict)), subjects[i], row.label});
  }
  return "\n" + grid.text(style.terminal);
}

}  // namespace

std::string count_text(const std::optional<Value>& value, const ComparedCount& of) {
  if (!value) return "-";
  // Fractions of nanoseconds matter below this only.
  constexpr Value whole_nanoseconds = 10'000;
  if (of.is_fraction && is_time(of))
    return std::abs(*value) < whole_nanoseconds ? fmt::format("{:.4g} ns", static_cast<double>(*value))
                                                : value_text(std::llround(*value), Unit::nanoseconds);
  return of.is_fraction ? metric_text(static_cast<double>(*value), of.fraction_unit)
                        : value_text(static_cast<std::int64_t>(*value), of.unit);
}

std::string signed_text(Value value, const ComparedCount& of) {
  if (value == 0) return "0";
  return (value > 0 ? "+" : "-") + count_text(std::abs(value), of);
}

bool is_time(const ComparedCount& count) { return count.unit == Unit::nanoseconds || count.fraction_unit == "ns"; }

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

std::vector<const ComparedCount*> shown_counts(const JudgedComparison& judged, const ComparisonStyle& style) {
  std::vector<const ComparedCount*> shown, within;
  for (const ComparedCount& count : judged.comparison.counts)
    if (style.shows_unchanged || count.verdict == Verdict::better || count.verdict == Verdict::worse ||
        is_undecided_change(count))
      (is_within_limits(count, judged.gates) ? within : shown).push_back(&count);
  if (!style.shows_unchanged && within.size() > most_within_limits) within.resize(most_within_limits);
  shown.insert(shown.end(), within.begin(), within.end());
  return shown;
}

std::vector<GateLine> gate_lines(const std::vector<GateResult>& gates) {
  std::vector<GateLine> lines, passed;
  for (const GateResult& gate : gates) switch (gate.state) {
      case GateResult::State::passed: passed.push_back({"passed", gate.text}); break;
      case GateResult::State::failed: lines.push_back({gate.gate.is_hard ? "FAILED" : "warning", gate.text}); break;
      case GateResult::State::undecided: lines.push_back({"undecided", gate.text}); break;
    }
  const std::size_t all = passed.size();
  if (all > most_within_limits) {
    passed.resize(most_within_limits);
    passed.push_back({"passed", fmt::format("{} more", all - most_within_limits)});
  }
  lines.insert(lines.end(), passed.begin(), passed.end());
  return lines;
}

std::string_view name(ComparedRows rows) {
  constexpr std::string_view names[] = {"function", "line", "object", "process", "thread"};
  return names[static_cast<std::size_t>(rows)];
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

std::vector<std::string> subjects_of(const std::vector<const ComparedCount*>& rows) {
  std::vector<std::string> subjects;
  for (const ComparedCount* const row : rows) subjects.push_back(row->subject);
  return cut_names(std::move(subjects));
}

std::string share_of_whole(const Comparison& comparison, const ComparedCount& row) {
  for (const ComparedCount& count : comparison.counts)
    if (count.event == row.event && count.subject.empty() && count.before && *count.before != 0)
      return fmt::format("{:+.2f} %", static_cast<double>(100 * row.change() / *count.before));
  return "";
}

std::string largest_growth(const Comparison& comparison, const std::string& event) {
  const ComparedCount* named = nullptr;  // the largest are first
  for (const ComparedCount& function : comparison.functions)
    if (function.event == event && function.verdict != Verdict::same && function.growth() > 0 &&
        (named == nullptr || (named->is_runtime && !function.is_runtime && function.growth() * 10 > named->growth())))
      named = &function;
  if (named == nullptr) return "";
  // A function of the runtime grows because of its callers.
  const auto first = std::ranges::find_if(comparison.functions, [&](const ComparedCount& function) {
    return function.event == event && function.verdict != Verdict::same && function.growth() > 0;
  });
  const bool is_first = &*first == named;
  return fmt::format("{} ({}{})", named->subject, change_text(*named),
                     is_first ? "" : fmt::format("; in the runtime {} {}", first->subject, change_text(*first)));
}

bool JudgedComparison::any(GateResult::State state, bool is_hard) const {
  return std::any_of(gates.begin(), gates.end(),
                     [&](const GateResult& gate) { return gate.state == state && gate.gate.is_hard == is_hard; });
}

namespace {

// "; largest change: parse (+8,000)": if a failed gate limits an event of the program.
std::string largest_change(const Comparison& comparison, const GateResult& result) {
  const ComparedCount* const count = result.count;
  if (result.state != GateResult::State::failed || count == nullptr || !count->subject.empty()) return "";
  const std::string named = largest_growth(comparison, count->event);
  return named.empty() ? "" : "; largest change: " + named;
}

// "; instructions:u fell by 49.0 %: is all the work still done?": a passed gate on instructions that fell by more than
// its limit. Otherwise "; hot +24,000,000 (+24.00 % of all), and other functions fell": a function that grew by more
// than the limit of the whole program.
std::string unusual_pass(const Comparison& comparison, const GateResult& result) {
  const ComparedCount* const count = result.count;
  if (result.state != GateResult::State::passed || !result.gate.is_relative || count == nullptr || !count->before)
    return "";
  if (const auto change = count->relative_change(); change && *change < -result.gate.limit)
    return !is_event(count->event, "instructions")
               ? ""
               : fmt::format("; {}{} fell by {:.3g} %: is all the work still done?", count->event,
                             count->subject.empty() ? "" : " of " + count->subject, -100 * *change);
  if (!count->subject.empty()) return "";
  const auto limit = static_cast<Value>(result.gate.limit) * *count->before;
  for (const ComparedCount& function : comparison.functions)  // the largest are first
    if (function.event == count->event && function.verdict == Verdict::worse && function.growth() > limit)
      return fmt::format("; {} {} ({} of all), and other functions fell", function.subject, change_text(function),
                         share_of_whole(comparison, function));
  return "";
}

/// Whether the row is of what the whole program costs.
bool is_cost(const ComparedCount& count) {
  return count.subject.empty() && (is_event(count.event, "instructions") || is_event(count.event, "cycles"));
}

bool any_cost(const Comparison& comparison, Verdict verdict) {
  return std::any_of(comparison.counts.begin(), comparison.counts.end(),
                     [&](const ComparedCount& count) { return is_cost(count) && count.verdict == verdict; });
}

/// "worse: instructions:u +12,000 (+5.22 %), cycles:u +9,000 (+5.10 %)": the costs with this verdict, else the first
/// other event; empty if none has it.
std::string verdict_text(const Comparison& comparison, Verdict wanted) {
  std::vector<std::string> texts;
  for (const ComparedCount& count : comparison.counts) {
    if (count.verdict != wanted || count.is_metric || (count.change() == 0 && !is_undecided_change(count))) continue;
    if (!is_cost(count) && (!texts.empty() || any_cost(comparison, wanted))) continue;
    const bool differs = count.change() != 0;
    texts.push_back(fmt::format("{}{}{} {}{}", count.event, count.subject.empty() ? "" : " of " + count.subject,
                                differs ? "" : ":", differs ? change_text(count) : count.reason,
                                relative_text(count).empty() ? "" : fmt::format(" ({})", relative_text(count))));
    if (wanted == Verdict::undecided) break;
  }
  return texts.empty() ? "" : fmt::format("{}: {}", name(wanted), join(texts, ", "));
}

}  // namespace

std::string JudgedComparison::verdict() const {
  for (const auto state : {GateResult::State::failed, GateResult::State::undecided})
    for (const GateResult& gate : gates)
      if (gate.state == state && gate.gate.is_hard)
        return fmt::format("{}: {}{}", state == GateResult::State::failed ? "failed" : "undecided", gate.text,
                           largest_change(comparison, gate));
  if (any(GateResult::State::failed, false)) {
    const auto first = std::find_if(gates.begin(), gates.end(),
                                    [](const GateResult& gate) { return gate.state == GateResult::State::failed; });
    return fmt::format("passed, with a warning: {}{}", first->text, largest_change(comparison, *first));
  }
  std::string unusual;
  for (const GateResult& result : gates)
    if (unusual.empty()) unusual = unusual_pass(comparison, result);
  if (!gates.empty()) return "passed: every gate" + unusual;
  const std::string worse = verdict_text(comparison, Verdict::worse),
                    better = verdict_text(comparison, Verdict::better);
  // What a program costs decides: with another compiler or algorithm, some of the other events grow in any case.
  if (!any_cost(comparison, Verdict::worse) && any_cost(comparison, Verdict::better))
    return better + (worse.empty() ? "" : "; " + worse);
  if (!worse.empty()) return worse + (any_cost(comparison, Verdict::better) ? "; " + better : "");
  for (const std::string& text : {better, verdict_text(comparison, Verdict::undecided)})
    if (!text.empty()) return text;
  const bool differ = std::ranges::any_of(comparison.counts, [](const auto& count) { return count.change() != 0; });
  return differ ? "same: what differs may do so by chance" : "same: no count differs";
}

std::string comparison_table(const JudgedComparison& judged, const ComparisonStyle& style) {
  const Comparison& comparison = judged.comparison;
  const auto counts = shown_counts(judged, style);
  Grid grid({{"event"},
             {"of"},
             {"before", Align::right},
             {"after", Align::right},
             {"change", Align::right},
             key_column("", Align::right),
             {"99 % interval", Align::right},
             key_column("verdict"),
             {"trust"},
             {"note"}});
  std::vector<std::string> notes;
  constexpr std::size_t long_reason = 40;
  const bool any_long = std::any_of(counts.begin(), counts.end(),
                                    [](const ComparedCount* count) { return count->reason.size() > long_reason; });
  add_counts(grid, counts, style.terminal == 0 && !any_long ? nullptr : &notes);
  std::string text = "\n" + (counts.empty() ? std::string() : grid.text(style.terminal));
  for (std::size_t i = 0; i < notes.size(); ++i)
    text += hanging(fmt::format(" [{}] ", i + 1), printable(notes[i]), style.terminal);
  if (const std::string hidden = hidden_text(judged, style); !hidden.empty())
    text += prose_line(hidden, style.terminal);
  text += rows_table(comparison, style);
  for (const std::string& warning : comparison.warnings)
    text += prose_line("note: " + printable(warning), style.terminal);
  const std::vector<GateLine> gates = gate_lines(judged.gates);
  // The last line has the text of a single gate that does not pass.
  const bool is_repeated = gates.size() == 1 && judged.gates[0].state != GateResult::State::passed;
  if (!gates.empty() && !is_repeated) text += "\n";
  for (const GateLine& gate : gates)
    if (!is_repeated) text += prose_line(fmt::format("{}: {}", gate.state, printable(gate.text)), style.terminal);
  return text + "\n" + prose_line(printable(judged.verdict()), style.terminal);
}

}  // namespace tally::output
