// The table and the comment of `tally bench`.
#include <fmt/format.h>

#include <algorithm>

#include "programs/results/bench_frameworks.hpp"
#include "programs/results/bench_runner.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/markdown.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::results {
namespace {

using namespace command;
using Row = BenchOutcome::Row;

// The result of a benchmark that is missing: renamed, or removed.
constexpr const char* missing_text =
    "undecided: it is only in the baseline; "
    "if that is intended, write its name in the suite: removed = [\"NAME\"]";

// What the counts of frameworks' benchmarks are of.
std::vector<std::string> units_of(const std::vector<BenchOutcome>& outcomes) {
  std::vector<std::string> lines;
  for (const BenchOutcome& outcome : outcomes)
    if (const Framework* const framework = outcome.benchmark->framework; framework != nullptr) {
      std::string line = fmt::format("counts of {} benchmarks are of {}", framework->name, framework->counted);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  return lines;
}

}  // namespace

std::string bench_table(const std::vector<BenchOutcome>& outcomes, const std::vector<std::string>& missing,
                        std::size_t terminal) {
  output::Grid rows({{"benchmark"},
                     {"count"},
                     {"before", output::Align::right},
                     {"after", output::Align::right},
                     output::key_column("change", output::Align::right),
                     {"limit", output::Align::right},
                     output::key_column("verdict")});
  std::string texts;
  for (const BenchOutcome& outcome : outcomes) {
    for (const Row& row : outcome.rows)
      rows.add({outcome.benchmark->name, row.event, row.before, row.after, row.change, row.limit, row.verdict});
    if (!outcome.text.empty())
      texts += output::prose_line(fmt::format("{}: {}", printable(outcome.benchmark->name), printable(outcome.text)),
                                  terminal);
    if (!outcome.benchmark->language_text().empty())
      texts += output::prose_line(fmt::format("{}: counted with settings of {}", printable(outcome.benchmark->name),
                                              outcome.benchmark->language_text()),
                                  terminal);
    if (!outcome.growth.empty())
      texts += output::prose_line(fmt::format("{}: {}", printable(outcome.benchmark->name), outcome.growth), terminal);
  }
  for (const std::string& line : units_of(outcomes)) texts += output::prose_line(line, terminal);
  for (const std::string& name : missing) {
    rows.add({name, "", "", "", "", "", "missing"});
    texts += output::prose_line(fmt::format("{}: {}", printable(name), missing_text), terminal);
  }
  return "\n" + rows.text(terminal) + (texts.empty() ? "" : "\n" + texts) + "\n";
}

namespace {

std::string comment_row(const std::string& benchmark, const Row& row) {
  std::string text = fmt::format("| {} |", output::markdown_text(printable(benchmark)));
  for (const std::string* const cell : {&row.event, &row.before, &row.after, &row.change, &row.limit})
    text += fmt::format(" {} |", output::markdown_text(*cell));
  const bool is_gate = row.verdict == "passed" || row.verdict == "failed" || row.verdict == "undecided";
  const std::string symbol = is_gate ? output::gate_mark(row.verdict, true) + std::string(" ") : "";
  return text + fmt::format(" {}{} |\n", symbol, row.verdict);
}

// The comparison of a benchmark that did not pass, or the reason why there is none; empty for the others.
std::string comment_section(const BenchOutcome& outcome) {
  const bool warns = std::ranges::find(outcome.rows, "warning", &Row::verdict) != outcome.rows.end();
  if (outcome.has_run && outcome.code == exit_ok && !warns && outcome.text.empty() && outcome.growth.empty()) return "";
  const bool is_shown = !outcome.has_run || outcome.code != exit_ok || warns;
  std::string text = fmt::format("### {}\n\n", output::markdown_text(printable(outcome.benchmark->name)));
  if (outcome.growth_decides) text += fmt::format("**tally: {}**\n\n", output::markdown_text(outcome.growth));
  // The verdict on the other gates alone.
  if (is_shown && outcome.growth_decides && outcome.markdown.starts_with("**tally: passed: every gate"))
    text += outcome.markdown.substr(outcome.markdown.find("\n\n") + 2) + "\n";
  else if (is_shown && !outcome.markdown.empty())
    text += outcome.markdown + "\n";
  else if (!outcome.text.empty())
    text += output::markdown_text(outcome.text) + "\n\n";
  if (!outcome.growth.empty() && !outcome.growth_decides) text += output::markdown_text(outcome.growth) + "\n\n";
  return text;
}

}  // namespace

std::string bench_comment(std::vector<BenchOutcome> outcomes, const std::vector<std::string>& missing) {
  constexpr std::size_t most = 60'000;
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const BenchOutcome& a, const BenchOutcome& b) {
    const auto rank = [](const BenchOutcome& outcome) {
      return outcome.has_run && outcome.code == exit_no ? 0 : outcome.code != exit_ok ? 1 : 2;
    };
    return rank(a) < rank(b);
  });
  std::string text =
      "| benchmark | count | before | after | change | limit | verdict |\n|---|---|--:|--:|--:|--:|---|\n";
  std::size_t omitted_rows = 0;
  const auto add_row = [&](const std::string& row) {
    if (text.size() + row.size() > most / 2)
      ++omitted_rows;
    else
      text += row;
  };
  for (const std::string& name : missing) add_row(comment_row(name, {{}, {}, {}, {}, {}, "missing"}));
  for (const BenchOutcome& outcome : outcomes)
    for (const Row& row : outcome.rows) add_row(comment_row(outcome.benchmark->name, row));
  text += "\n";
  for (const std::string& line : units_of(outcomes)) text += line + ".\n\n";
  if (omitted_rows > 0) text += fmt::format("{} rows are omitted because the comment is long.\n\n", omitted_rows);
  for (const std::string& name : missing)
    text += fmt::format("### {}\n\n{}\n\n", output::markdown_text(printable(name)), missing_text);
  std::size_t omitted = 0;
  for (const BenchOutcome& outcome : outcomes) {
    const std::string section = comment_section(outcome);
    if (text.size() + section.size() + 100 > most)
      ++omitted;
    else
      text += section;
  }
  return omitted == 0 ? text : text + fmt::format("{} benchmarks are omitted because the comment is long.\n", omitted);
}

}  // namespace tally::results
