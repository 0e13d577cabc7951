// `tally stat --format markdown`: a comment, or part of a document.
#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/markdown.hpp"
#include "tally/output/kit/provenance_line.hpp"

namespace tally::output {
namespace {

// The interval of the median of several runs.
std::string interval_text(const result::Event& event) {
  if (!event.summary || !event.summary->low || !event.summary->high) return {};
  const Unit unit = event.total.unit;
  return value_text(*event.summary->low, unit) + " – " + value_text(*event.summary->high, unit);
}

std::string trust_cell(const result::Event& event) {
  const Count& count = event.total.count;
  std::string text(name(count.trust));
  if (!count.model.empty()) text += ": " + count.model;
  if (!count.reason.empty()) text += ": " + count.reason;
  return markdown_text(text);
}

std::string events_rows(const result::Stat& stat) {
  const bool has_series = stat.runs_asked > 1;
  std::string text = has_series ? "| event | median | interval | trust |\n|---|--:|--:|---|\n"
                                : "| event | count | trust |\n|---|--:|---|\n";
  for (const result::Event& event : stat.events) {
    text += fmt::format("| {} | {} |", markdown_text(event.total.name.text()),
                        event.total.count.value ? value_text(*event.total.count.value, event.total.unit) : "");
    if (has_series) text += fmt::format(" {} |", interval_text(event));
    text += fmt::format(" {} |\n", trust_cell(event));
  }
  return text;
}

// The comparison with a baseline; empty without one.
std::string verdict_lines(const result::Stat& stat) {
  if (!stat.gate) return {};
  std::string text = fmt::format("**tally: {}**\n\n", markdown_text(stat.gate->text));
  for (const result::BaselineVerdict::Gate& gate : stat.gate->gates)
    text += fmt::format("- {} {}\n", gate_mark(gate.state, gate.is_hard), markdown_text(gate.text));
  return stat.gate->gates.empty() ? text : text + "\n";
}

std::string metrics_rows(const result::Stat& stat) {
  if (stat.metrics.empty()) return {};
  std::string text = "\n| metric | value | unit |\n|---|--:|---|\n";
  for (const result::Metric& metric : stat.metrics)
    text +=
        fmt::format("| {} | {} | {} |\n", markdown_text(metric.name),
                    metric.ratio.value ? fmt::format("{:.4g}", *metric.ratio.value) : "", markdown_text(metric.unit));
  return text;
}

std::string top_down_rows(const result::Stat& stat) {
  std::string text;
  for (const TopDownClass& row : top_down(stat.events))
    text += fmt::format("| {} | {} | {} |\n", markdown_text(indented_name(row, "\u00a0\u00a0")), thousands(row.slots),
                        percent_text(100 * row.share));
  return text.empty() ? text : "\n| top-down class | slots | share |\n|---|--:|--:|\n" + text;
}

}  // namespace

Result<std::string> stat_markdown(const result::Stat& stat, const Style&) {
  const std::string what = stat.command.empty() ? stat.target : shell_words(stat.command);
  std::string text = verdict_lines(stat) + fmt::format("**{}**", markdown_text(what));
  if (stat.runs.size() > 1) text += fmt::format(", {} runs", stat.runs.size());
  if (stat.exit_code && *stat.exit_code != 0) text += fmt::format(", exit code {}", *stat.exit_code);
  if (stat.incomplete) text += ", incomplete";
  text += "\n\n" + events_rows(stat) + top_down_rows(stat) + metrics_rows(stat);
  if (!stat.notices.empty()) text += "\n";
  for (const std::string& notice : stat.notices) text += fmt::format("- {}\n", markdown_text(notice));
  std::string where = stat.environment.cpu;
  if (const std::string line = provenance_line(stat.environment.provenance); !line.empty())
    where += (where.empty() ? "" : " · ") + line;
  if (!where.empty()) text += "\n" + markdown_text(where) + "\n";
  return text;
}

}  // namespace tally::output
