#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "programs/results/history_format.hpp"
#include "programs/results/history_growth.hpp"
#include "programs/results/read_history.hpp"
#include "programs/results/result_commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {
namespace {

struct HistoryCommandOptions {
  std::vector<std::string> files, limits;
  std::string format, output, name, event, label;
  std::int64_t last = 0;
  bool list = false;
};

constexpr const char* history_footer =
    "FILE is a history that `tally stat --history FILE` or `tally compare --history FILE` wrote. Each event of each "
    "program is a series. tally prints its trend and the results at which its level changed. Exact counts of different "
    "machines are one series; others are one for each processor.\n"
    "\n"
    "Exact counts have no noise: each result that differs from the one before is a change, if the ranges of its runs "
    "have no number in common, or by more than 0.01 % if single runs of the program can differ, because it reads a "
    "clock, for example. Spikes, alternations "
    "between two counts, and creeps (slow growth in at least three steps) are listed, too. Count with --repeatable, so "
    "that the program itself does the same in each run. Changes of other counts exceed their noise in at least three "
    "results; they are found by PELT with the sum of absolute deviations as cost.\n"
    "\n"
    "Exit code: 0 the history was read, 1 a count grew by more than --fail-above, 2 bad usage or an unreadable file.\n"
    "\n"
    "Examples:\n"
    "  tally stat --repeatable --history bench.db -- ./prog\n"
    "  tally history bench.db\n"
    "  tally history bench.db --list\n"
    "  tally history bench.db --event instructions --last 50\n"
    "  tally history bench.db --fail-above 2%/20    # slow growth\n"
    "  tally history bench.db --format bencher -o result.json\n"
    "  tally report bench.db -o history.html\n";

void describe(Page& page, HistoryCommandOptions& options) {
  page.head("Show how the counts of programs changed over time.", "tally history [options] FILE");
  page.add_option("FILE", options.files, "the history");
  page.add_flag("--list", options.list, "list the stored results");
  page.add_option("--name", options.name, "only the series of this name").value_name("NAME");
  page.add_option("-e,--event", options.event, "only this event: instructions, instructions:u").value_name("EVENT");
  page.add_option("--label", options.label, "only results with this label").value_name("LABEL");
  page.add_option("--last", options.last, "only the last N results of each name")
      .value_name("N")
      .check(whole_number(1));
  page.add_option("--fail-above", options.limits,
                  "exit with 1 if a count grew by more than P % over its last N results, and name the commits: "
                  "[EVENT=]P%/N (without EVENT: every exact and modelled count); repeatable")
      .value_name("LIMIT")
      .repeated();
  const auto formats = output::common(history_formats());
  add_format_option(page, options.format, formats, output::format_help(formats, "table"));
  add_output_option(page, options.output);
  page.footer(output::format_lines(formats) + "\n" + history_footer);
}

// With or without the mode: "instructions" is also "instructions:u".
bool is_of(const std::string& event, const std::string& asked) {
  return event == asked || split_event_name(event).base == asked;
}

void keep_asked(result::History& history, const HistoryCommandOptions& options) {
  std::erase_if(history.entries, [&](const result::HistoryEntry& entry) {
    return (!options.name.empty() && entry.name != options.name) ||
           (!options.label.empty() && entry.provenance.label != options.label);
  });
  if (!options.event.empty())
    for (result::HistoryEntry& entry : history.entries)
      std::erase_if(entry.counts,
                    [&](const result::HistoryCount& count) { return !is_of(count.event, options.event); });
  if (options.last == 0) return;
  std::map<std::string, std::int64_t> later;
  std::vector<result::HistoryEntry> kept;
  for (auto entry = history.entries.rbegin(); entry != history.entries.rend(); ++entry)
    if (later[entry->name]++ < options.last) kept.push_back(std::move(*entry));
  std::reverse(kept.begin(), kept.end());
  history.entries = std::move(kept);
}

// Reports counts that grew by more than the limits. Returns tally's exit code.
int judge_growth(const result::History& history, const std::vector<GrowthLimit>& limits) {
  const std::vector<HistorySeries> all = series_of(history);
  std::vector<std::string> lines;
  int code = exit_ok;
  for (const GrowthLimit& limit : limits) {
    std::size_t limited = 0;
    const std::size_t before = lines.size();
    for (const HistorySeries& series : all) {
      if (!is_limited(series, limit)) continue;
      ++limited;
      const auto growth = growth_of(series, limit.results);
      if (growth && growth->relative() > limit.limit)
        lines.push_back(fmt::format("failed: {} of {}: {}; above {}", series.event, printable(series_name(series)),
                                    growth_text(*growth), limit.text));
    }
    if (limited == 0)
      return report_error({Code::bad_usage,
                           fmt::format("no series has a count for --fail-above {}", printable(limit.text)),
                           "`tally history FILE` lists the series", 0});
    if (lines.size() == before)
      lines.push_back(fmt::format("passed: no count of {} series grew by more than {}", limited, limit.text));
    else
      code = exit_no;
  }
  if (!lines.empty()) say(lines);
  return code;
}

Error nothing_left(const HistoryCommandOptions& options) {
  return {Code::bad_usage, fmt::format("'{}' has no such results", options.files.front()),
          fmt::format("`tally history {} --list` lists the results", options.files.front()), 0};
}

}  // namespace

void describe_history(Page& page) {
  static HistoryCommandOptions unused;
  describe(page, unused);
}

int run_history(const std::vector<std::string>& arguments) {
  HistoryCommandOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.size() != 1)
    return report_error({Code::bad_usage, fmt::format("one FILE is needed, not {}", options.files.size()),
                         "for example: tally history bench.db", 0});
  const auto format = output::choose_format(history_formats(), options.format, options.output, "table");
  if (!format) return report_error(format.error());
  if (const auto apart = report::check_not_read(options.output, options.files); !apart)
    return report_error(apart.error());
  std::vector<GrowthLimit> limits;
  for (const std::string& text : options.limits) {
    auto limit = parse_growth_limit(text);
    if (!limit) return report_error(limit.error());
    limits.push_back(*std::move(limit));
  }
  auto history = history::read_history(options.files.front());
  if (!history) return report_error(history.error());
  keep_asked(*history, options);
  const bool is_asked = !options.name.empty() || !options.event.empty() || !options.label.empty();
  if (is_asked && std::none_of(history->entries.begin(), history->entries.end(),
                               [](const result::HistoryEntry& entry) { return !entry.counts.empty(); }))
    return report_error(nothing_left(options));
  const bool to_file = !options.output.empty() && options.output != "-";
  const std::size_t terminal = to_file ? 0 : linux::terminal_columns(linux::Stream::output);
  const std::string text =
      options.list ? history_list(*history, terminal) : (*format)->write(*history, provenance(), terminal);
  if (const int written = write_text(options.output, text); written != exit_ok) return written;
  return judge_growth(*history, limits);
}

}  // namespace tally::results
