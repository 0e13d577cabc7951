// The page of `tally compare`: the verdicts, above the difference of two profiles if there are any.
#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/in_line.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/html/assets.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/html/sections.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kit/element.hpp"

namespace tally::output {
namespace {

std::string gates_html(const std::vector<GateResult>& gates) {
  std::string items;
  for (const GateLine& gate : gate_lines(gates)) items += element("li", fmt::format("{}: {}", gate.state, gate.text));
  return items.empty() ? "" : "<ul>\n" + items + "</ul>\n";
}

std::string counts_table(const std::vector<const ComparedCount*>& counts) {
  HtmlTable table(
      {"event", "of", "#before", "#after", "#change", "#relative", "#99 % interval", "verdict", "trust", "note"});
  for (const ComparedCount* const count : counts)
    table.add({count->event, count->subject, count_text(count->before, *count), count_text(count->after, *count),
               change_text(*count), relative_text(*count), interval_text(*count), std::string(name(count->verdict)),
               count->trust, count->reason});
  return table.html();
}

std::string rows_table_of(const Comparison& comparison, const ComparisonStyle& style) {
  const auto rows = shown_rows(comparison, style);
  if (rows.empty()) return "";
  HtmlTable table({std::string(name(style.rows)), "#before", "#after", "#change", "#relative", "#of the program",
                   "verdict", "cause"});
  const std::vector<std::string> subjects = subjects_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedCount& row = *rows[i];
    table.add({subjects[i], count_text(row.before, row), count_text(row.after, row), change_text(row),
               relative_text(row), share_of_whole(comparison, row), std::string(name(row.verdict)), row.label});
  }
  return element("h3", fmt::format("Largest changes by {}, {}", name(style.rows), rows.front()->event)) + table.html();
}

/// The verdict, the gates, and the tables.
std::string verdict_section(const JudgedComparison& judged, const ComparisonStyle& style) {
  const Comparison& comparison = judged.comparison;
  std::string text = judged.verdict();
  const bool is_bad = text.starts_with("failed") || text.starts_with("worse");
  std::string html = element("p", text, is_bad ? "verdict bad" : "verdict") + gates_html(judged.gates);
  const auto counts = shown_counts(judged, style);
  if (counts.empty()) html += element("p", "No event changed.", "soft");
  html += counts_table(counts) + rows_table_of(comparison, style);
  for (const std::string& warning : comparison.warnings) html += element("p", warning, "soft");
  return html;
}

std::string title_of(const Comparison& comparison) {
  const Comparable& after = *comparison.after;
  return "What changed: " + (after.command.empty() ? after.target : shell_words(after.command));
}

}  // namespace

std::string comparison_html(const JudgedComparison& judged, const ComparisonStyle& style) {
  const Comparison& comparison = judged.comparison;
  const std::string top =
      element("p", environment_line(comparison.after->environment), "soft") + verdict_section(judged, style);
  if (comparison.before->profile != nullptr && comparison.after->profile != nullptr) {
    const InLineProfile before(*comparison.before->profile), after(*comparison.after->profile);
    ProfileStyle of_profiles;
    of_profiles.source = style.source;
    if (const auto difference = difference_of(before.get(), after.get()))
      return difference_page(*difference, of_profiles, top);
  }
  const std::string title = escaped(title_of(comparison));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"tally\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<h1>{}</h1>\n{}</body>\n</html>\n",
      title, page_style(), title, top);
}

}  // namespace tally::output
