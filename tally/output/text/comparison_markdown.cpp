// `tally compare --format markdown`: a comment for a pull request.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/row_growth.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kit/markdown.hpp"

namespace tally::output {
namespace {

constexpr std::size_t longest_comment = 60'000;
constexpr std::size_t most_rows = 20;  // of a table

/// The verdict, with a coloured mark unless the change is too small to be seen: "+0.00 %".
const char* mark(const ComparedCount& count) {
  constexpr double smallest_marked = 0.000'05;
  const auto relative = count.relative_change();
  const bool is_marked = !relative || std::abs(*relative) >= smallest_marked;
  switch (count.verdict) {
    case Verdict::worse: return is_marked ? "🔴 worse" : "worse";
    case Verdict::better: return is_marked ? "🟢 better" : "better";
    case Verdict::same: return "same";
    case Verdict::undecided: break;
  }
  return "⚪ undecided";
}

std::string row(const ComparedCount& count, const std::string& first, const std::string& last) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", first, count_text(count.before, count),
                     count_text(count.after, count), change_text(count), relative_text(count), mark(count),
                     markdown_text(last));
}

constexpr const char* table_head = "| {} | before | after | change | | verdict | {} |\n|---|--:|--:|--:|--:|---|---|\n";

const char* heading(ComparedRows rows) {
  constexpr const char* headings[] = {"Functions", "Lines", "Files", "Processes", "Threads"};
  return headings[static_cast<std::size_t>(rows)];
}

/// Functions of the runtime as one row, the last one, unless there are no others. `sum`: holds the row.
std::vector<const ComparedCount*> with_runtime_as_one(const std::vector<const ComparedCount*>& rows,
                                                      ComparedCount& sum) {
  std::vector<const ComparedCount*> shown;
  std::size_t functions = 0;
  for (const ComparedCount* const row : rows) {
    if (!row->is_runtime || !row->before || !row->after) {
      shown.push_back(row);
      continue;
    }
    if (functions++ == 0) {
      sum = *row;
      sum.label.clear();
      sum.interval.reset();
      continue;
    }
    *sum.before += *row->before;
    *sum.after += *row->after;
    // The sum of samples has no interval of its own.
    if (row->verdict == Verdict::undecided || (row->interval && row->verdict != sum.verdict))
      sum.verdict = Verdict::undecided;
  }
  if (functions < 2 || shown.empty()) return rows;
  sum.subject = fmt::format("{} functions of the runtime", functions);
  if (sum.verdict != Verdict::undecided) decide(sum);
  shown.insert(shown.begin() + static_cast<std::ptrdiff_t>(std::min(shown.size(), most_rows - 1)), &sum);
  return shown;
}

std::string gates_list(const std::vector<GateResult>& gates) {
  std::string text;
  for (const GateLine& gate : gate_lines(gates))
    text += fmt::format("- {} {}\n", gate_mark(gate.state, gate.state != "warning"), markdown_text(gate.text));
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string comparison_markdown(const JudgedComparison& judged, const ComparisonStyle& style) {
  const Comparison& comparison = judged.comparison;
  std::string text = fmt::format("**tally: {}**\n\n", markdown_text(judged.verdict())) + gates_list(judged.gates);
  const auto counts = shown_counts(judged, style);
  if (!counts.empty()) {
    text += fmt::format(fmt::runtime(table_head), "event", "trust");
    for (const ComparedCount* const count : std::span(counts).first(std::min(counts.size(), most_rows)))
      text += row(*count, markdown_text(count->event + (count->subject.empty() ? "" : " of " + count->subject)),
                  count->trust + (count->reason.empty() ? "" : ": " + count->reason));
    text += counts.size() > most_rows ? fmt::format("\n{} more counts are not shown.\n\n", counts.size() - most_rows)
                                      : "\n";
  }
  ComparisonStyle details = style;
  details.most_rows = 0;
  ComparedCount runtime;
  auto rows = with_runtime_as_one(shown_rows(comparison, details), runtime);
  std::string end;
  if (rows.size() > most_rows) rows.resize(most_rows);
  if (rows.size() == most_rows) end += fmt::format("The {} largest changes are shown.\n", most_rows);
  for (const std::string& warning : comparison.warnings) end += fmt::format("\n{}\n", markdown_text(warning));
  end += fmt::format("\n{}\n", markdown_code(shell_words(comparison.after->command)));
  if (rows.empty()) return text + end;
  text +=
      fmt::format("<details><summary>{} by {}</summary>\n\n", heading(style.rows), markdown_text(rows.front()->event));
  text += fmt::format(fmt::runtime(table_head), name(style.rows), "of the program");
  const std::string close = "\n</details>\n";
  const std::vector<std::string> subjects = subjects_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string& label = rows[i]->label;
    const std::string next = row(*rows[i], markdown_text(subjects[i]),
                                 share_of_whole(comparison, *rows[i]) + (label.empty() ? "" : ", " + label));
    if (text.size() + next.size() + close.size() + end.size() > longest_comment) break;
    text += next;
  }
  return text + close + end;
}

}  // namespace tally::output
