// A page of coverage: a table of files, and the source of each with the executions of its lines.
#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/coverage.hpp"
#include "tally/output/html/page_frame.hpp"
#include "tally/output/html/profile_page.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/element.hpp"

namespace tally::output {
namespace {

constexpr const char* style_of_lines =
    "pre.covered{line-height:1.35;overflow-x:auto}.covered .missed{background:#d6453d33}"
    ".covered .partly{background:#e0a10033}";

std::string share(std::size_t executed, std::size_t all) {
  if (all == 0) return "";
  return fmt::format("{:.1f} % ({}/{})", 100.0 * static_cast<double>(executed) / static_cast<double>(all), executed,
                     all);
}

std::size_t called(const CoveredFile& file) {
  std::size_t sum = 0;
  for (const CoveredFunction& function : file.functions) sum += function.calls > 0;
  return sum;
}

/// A line of source with its executions and branch outcomes.
std::string line_of(const CoveredFile& file, std::uint32_t number, std::string_view source) {
  const auto count = file.lines.find(number);
  const auto branches = file.branches.find(number);
  std::string outcomes;
  std::size_t seen = 0, all = 0;
  if (branches != file.branches.end()) {
    all = branches->second.size();
    for (const std::int64_t outcome : branches->second) seen += outcome > 0;
    outcomes = fmt::format("{}/{}", seen, all);
  }
  const std::string text =
      fmt::format("{:>15} {:>6} {:>6}  {}", count == file.lines.end() ? "" : thousands(count->second), outcomes, number,
                  printable(source));
  const char* const kind = count != file.lines.end() && count->second == 0 ? "missed" : seen < all ? "partly" : "";
  return (*kind != 0 ? element("span", text, kind) : escaped(text)) + "\n";
}

std::string source_of(const std::string& path, const CoveredFile& file, const std::string& text, bool is_newer) {
  std::string html = "<pre class=\"covered\">";
  if (is_newer) html += escaped(std::string("this file") + newer_source + "\n");
  html += escaped(fmt::format("{:>15} {:>6} {:>6}  {}\n", "executions", "branch", "line", "source"));
  std::uint32_t number = 0;
  for (const std::string& line : split(text, '\n')) html += line_of(file, ++number, line);
  return folded(printable(path) + ": " + share(file.executed_lines(), file.lines.size()), html + "</pre>");
}

std::string missed_functions(const std::map<std::string, CoveredFile>& files) {
  HtmlTable table({"function that was not called", "line"});
  for (const auto& [path, file] : files)
    for (const CoveredFunction& function : file.functions)
      if (function.calls == 0)
        table.add({printable(function.name), fmt::format("{}:{}", printable(path), function.line)});
  return table.html();
}

}  // namespace

std::string profile_coverage_page(const result::Profile& profile, const ProfileStyle& style) {
  const std::map<std::string, CoveredFile> files = coverage_of(profile, style.coverage);
  const std::set<std::string> newer = newer_sources(profile, style);
  HtmlTable table({"file", "#lines", "#functions", "#branch outcomes"});
  std::string sources;
  std::size_t lines = 0, executed = 0, functions = 0, called_ones = 0, outcomes = 0, seen = 0;
  for (const auto& [path, file] : files) {
    table.add({printable(path), share(file.executed_lines(), file.lines.size()),
               share(called(file), file.functions.size()), share(file.seen_outcomes(), file.outcomes())});
    lines += file.lines.size();
    executed += file.executed_lines();
    functions += file.functions.size();
    called_ones += called(file);
    outcomes += file.outcomes();
    seen += file.seen_outcomes();
    const auto source = style.source && is_source_name(path) ? style.source(path, {}) : std::nullopt;
    sources += source ? source_of(path, file, source->text, newer.contains(path))
                      : element("p", printable(path) +
                                         ": the source file is missing, or its name has no extension of a source file");
  }
  table.add({"all files", share(executed, lines), share(called_ones, functions), share(seen, outcomes)});
  const std::string command = shell_words(profile.stat.command);
  return page_of("Coverage: " + command,
                 element("h1", "Coverage: " + command) + table.html() + element("h2", "Source") +
                     element("p",
                             "Lines without a count have no code. Red: not executed. Yellow: a branch had only one"
                             " outcome.") +
                     sources + folded("Functions that were not called", missed_functions(files)),
                 {{style_of_lines, ""}});
}

}  // namespace tally::output
