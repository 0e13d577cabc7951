#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tally/cli/commands.hpp"
#include "tally/cli/stat_command.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/data/other_tools.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/comparison/baseline.hpp"
#include "tally/tools/comparison/gate_options.hpp"
#include "tally/tools/history/history_file.hpp"
#include "tally/tools/report/source_reader.hpp"
#include "tally/tools/report/stored_files.hpp"
#include "tally/tools/why/why.hpp"

namespace tally::cli {
namespace {

struct CompareOptions {
  std::vector<std::string> files;
  std::vector<std::string> events;
  comparison::GateOptions gates;
  std::string by, format, output;
  std::vector<std::string> variables;
  std::int64_t top = 10;
  bool all = false, force = false, why = false;
  history::HistoryOptions history;
};

constexpr const char* about =
    "Each event and metric is the same, better, worse, or undecided, with the reason; gates follow the same rules. "
    "Fewer is better; of IPC, clock frequencies and rates per second more is, if what they cost is better, too. One "
    "run on each side decides exact and modelled counts of a program with one thread, if both were counted with "
    "--repeatable. Others need several runs (tally stat -r 10): a Mann-Whitney test decides whether they differ at 1 "
    "%, corrected for the number of rows. Windows are compared by their sums, times of tally memory by their "
    "intervals. With two profiles, the functions that changed are listed, or lines, files of code, processes and "
    "threads (--by).\n"
    "\n";

constexpr const char* compare_examples =
    "Exit codes:\n"
    "  0  every gate passed, or there is none\n"
    "  1  a gate of --fail-above failed\n"
    "  2  wrong options, an unreadable file, a gate whose event or region is not in\n"
    "     both files, or whose function is in neither (tally profile writes them)\n"
    "  3  not comparable: other arguments, or with a gate another program; or a gate\n"
    "     is undecided: its function is in one file only; count others with\n"
    "     --repeatable, or in more runs (tally stat -r 10)\n"
    "\n"
    "Examples:\n"
    "  tally profile --repeatable -o old.json -- ./prog    # before the change\n"
    "  tally profile --repeatable -o new.json -- ./prog    # after it\n"
    "  tally compare old.json new.json\n"
    "  tally compare old.json new.json --fail-above instructions=1% -o comment.md\n";

void describe(Page& page, CompareOptions& options) {
  page.head("Compare two results of a program, and fail if a count grew by more than a limit.",
            "tally compare [options] OLD NEW");
  page.add_option("FILE", options.files, "the result before, then the result after");
  page.add_option("-e,--event", options.events, "compare only these events and metrics: names separated by commas")
      .value_name("EVENTS")
      .repeated();
  comparison::add_gate_options(page, options.gates);
  const auto formats = output::common(output::comparison_formats());
  add_format_option(page, options.format, formats, output::format_help(formats, "table"));
  add_output_option(page, options.output);
  add_host_option(page);
  page.add_option("--by", options.by, "profiles: one row per function (default), line, object, process, thread")
      .value_name("ROWS");
  page.add_option("--top", options.top, "profiles: rows in the table; 0: all (default: 10)")
      .value_name("N")
      .check(whole_number(0));
  page.add_flag("--all", options.all, "show events and functions without change, too");
  page.add_flag("--force", options.force,
                "compare other arguments or failures, and decide gates although programs or settings differ");
  page.add_flag("--why", options.why,
                "results of tally stat --path-hash: run both commands again, and show where their executions part and "
                "what made them differ");
  page.add_option("--env", options.variables, "--why: the value that a variable had in a stored run; repeatable")
      .value_name("NAME=VALUE")
      .repeated();
  history::add_history_options(page, options.history);
  page.footer(about + comparison::comparable_lines() + "\n" + compare_examples);
}

// Explains why two results differ, instead of comparing their counts.
int explain(const CompareOptions& options) {
  if (options.gates.any() || !options.events.empty() || !options.by.empty() || !options.format.empty() ||
      !options.output.empty() || !options.history.file.empty())
    return report_error({Code::bad_usage, "--why cannot be combined with gates, -e, --by, --format, -o and --history",
                         "compare the counts without --why", 0});
  std::vector<why::StoredRun> runs;
  for (const std::string& name : options.files) {
    constexpr output::Kind kinds[] = {output::Kind::stat};
    auto file = report::read_stored(name);
    if (!file) return report_error(file.error());
    auto results = report::stored_results(*file, kinds);
    if (!results) return report_error(results.error());
    auto* const stat = results->size() == 1 ? std::get_if<result::Stat>(&results->front()) : nullptr;
    if (stat == nullptr || stat->runs.empty())
      return report_error({Code::bad_usage, fmt::format("'{}' is not one result of tally stat", printable(name)),
                           "--why compares files of `tally stat -o FILE.json`", 0});
    runs.push_back({name, std::move(*stat)});
  }
  return why::explain_difference(runs[0], runs[1], read_stat_options, options.variables);
}

Result<output::ComparedRows> rows_of(const std::string& by) {
  if (by.empty()) return output::ComparedRows::functions;
  using enum output::ComparedRows;
  for (const auto rows : {functions, lines, objects, processes, threads})
    if (by == output::name(rows)) return rows;
  return fail(Code::bad_usage, fmt::format("--by '{}' is unknown", printable(by)),
              "use function, line, object, process or thread");
}

int write(const output::JudgedComparison& judged, const CompareOptions& options, output::ComparedRows rows,
          const output::ComparisonFormat& format) {
  output::ComparisonStyle style{.shows_unchanged = options.all,
                                .all_option = "--all",
                                .rows = rows,
                                .most_rows = static_cast<std::size_t>(options.top)};
  style.source = report::source_reader();
  const bool to_file = !options.output.empty() && options.output != "-";
  if (!to_file) style.terminal = linux::terminal_columns(linux::Stream::output);
  const std::string text = format.write(judged, style);
  if (const int written = write_text(options.output, text); written != exit_ok) return written;
  if (to_file) say({judged.verdict()});
  return comparison::outcome_of(judged, comparison::undecided_exit_code(options.gates.undecided)).second;
}

}  // namespace

void describe_compare(Page& page) {
  static CompareOptions unused;
  describe(page, unused);
}

int run_compare(const std::vector<std::string>& arguments) {
  CompareOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.size() != 2)
    return report_error({Code::bad_usage, fmt::format("two files are needed, not {}", options.files.size()),
                         "for example: tally compare old.json new.json", 0});
  if (options.why) return explain(options);
  if (!options.variables.empty())
    return report_error({Code::bad_usage, "--env needs --why", "omit --env, or add --why", 0});
  const auto rows = rows_of(options.by);
  if (!rows) return report_error(rows.error());
  const auto gates = comparison::read_gates(options.gates);
  if (!gates) return report_error(gates.error());
  if (const auto apart = report::check_not_read(options.output, options.files); !apart)
    return report_error(apart.error());
  auto history = history::HistoryFile::open(options.history);
  if (!history) return report_error(history.error());
  std::optional<result::Stat> kept;
  if (!options.history.file.empty()) {
    auto result = report::read_counts(options.files[1]);
    if (!result) return report_error(result.error());
    kept = *std::move(result);
  }
  const auto format = output::choose_format(output::comparison_formats(), options.format, options.output, "table");
  if (!format) return report_error(format.error());
  auto before = comparison::read_comparable(options.files[0]);
  if (!before) return report_error(before.error());
  auto after = comparison::read_comparable(options.files[1]);
  if (!after) return report_error(after.error());
  std::vector<std::string> chosen;
  for (const std::string& list : options.events) {
    const auto items = event::split_list(list);
    if (!items) return report_error(items.error());
    for (const event::Item& item : *items)
      chosen.push_back(item.modifiers.empty() ? item.text : item.text + ":" + item.modifiers);
  }
  for (auto* const side : {&*before, &*after}) hide_host(side->environment, **format);
  output::pair_benchmarks(*before, *after);
  if (!options.force)
    if (const auto different = output::not_comparable(*before, *after, gates->empty())) {
      report_error(*different);
      return exit_not_comparable;
    }
  auto judged = output::compare_and_judge(*before, *after, *gates, options.force, chosen);
  if (!judged) return report_error(judged.error());
  judged->provenance = provenance();
  const int code = write(*judged, options, *rows, **format);
  const int stored = kept ? history->add(*kept, history::Origin::file) : exit_ok;
  return code != exit_ok ? code : stored;
}

}  // namespace tally::cli
