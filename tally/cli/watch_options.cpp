#include "tally/cli/watch_options.hpp"

#include <fmt/format.h>

#include "tally/cli/common_options.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::cli {
namespace {

constexpr const char* footer =
    R"(Rows are processors, sockets and the whole system; with --per process and --per group also processes and control
groups. Columns are those of Intel's PCM, with a source for each, and what the kernel knows without a PMU: page faults,
context switches, waiting, steal time, memory pressure. A cell whose source is missing is empty, never 0; --legend, and
the keys ? and w, say where each comes from, why it is missing, and what more rights would add.

On a terminal the table is refreshed in place; keys: q quit, m p g machine, processes, groups, s sort, / filter, c
columns, ? legend, w why cells are empty, h header, space pause, r record to a file, arrows scroll. In a replay n and b
go on and back. Where there is no terminal, or one that cannot place its cursor, tables are printed as with --batch.

The first table comes after one interval. With a command watching ends with it, and its exit code is tally's; tables
are printed to standard error then. Nothing of the machine is changed without --fix-frequency and --prefetchers; what
was changed is put back at the end, and where tally was killed by the next call of tally watch or tally memory.

Examples:
  tally watch
  tally watch --batch -n 5
  tally watch --batch --per process -n 1 --sort MEM
  tally watch --batch --format csv -n 60 -o minute.csv
  tally watch --batch --format json -I 100 -- make -j4
  tally watch --record minute.jsonl -n 60
  tally watch --replay minute.jsonl
)";

Result<void> choose_kinds(WatchOptions& options) {
  auto& kinds = options.asked.shown.kinds;
  kinds.clear();
  for (const std::string& word : split(options.per, ',')) {
    bool known = false;
    for (const auto kind : {result::WatchKind::core, result::WatchKind::socket, result::WatchKind::system,
                            result::WatchKind::process, result::WatchKind::group}) {
      if (trimmed(word) != result::name(kind)) continue;
      kinds.push_back(kind);
      known = true;
    }
    if (!known) {
      return fail(Code::bad_usage, fmt::format("--per: there are no rows called '{}'", printable(word)),
                  "there are core, socket, system, process and group");
    }
  }
  return {};
}

Result<void> choose_command(const Page& page, WatchOptions& options) {
  options.command = page.remaining();
  if (!options.command.empty() && options.command.front() == "--") {
    options.command.erase(options.command.begin());
  } else if (!options.command.empty() && options.command.front().starts_with("-")) {
    return fail(Code::bad_usage, fmt::format("unknown option '{}'", printable(options.command.front())),
                page.options_hint(options.command.front()));
  }
  return {};
}

}  // namespace

void describe_watch_options(Page& page, WatchOptions& options) {
  page.head("The machine, live: what each core, socket, process or control group does, refreshed every second.",
            "tally watch [options] [-- PROGRAM [arguments]]");
  page.prefix_command();
  page.add_flag("--batch", options.batch, "print one table after the other, for scripts and pipes");
  page.add_option("-n,--count", options.readings, "end after N tables")
      .value_name("N")
      .check(whole_number(1, 1'000'000'000));
  page.add_option("-I,--interval", options.interval_ms, "read every MS milliseconds; 1000 where nothing is said")
      .value_name("MS")
      .check(whole_number(10, 86'400'000));
  page.add_option("--per", options.per, "rows: core, socket, system, process, group; several with commas")
      .value_name("ROWS");
  page.add_option("-C,--cpu", options.processors, "only these processors: 0,2-3").value_name("CPUS");
  page.add_option("--columns", options.column_names, "only these columns: UTIL,IPC,TEMP").value_name("COLUMNS");
  page.add_option("--sort", options.sort, "the column by which processes and groups are sorted; UTIL")
      .value_name("COLUMN");
  page.add_option("--filter", options.asked.shown.filter, "only processes and groups whose name has WORD in it")
      .value_name("WORD");
  page.add_option("--rows", options.asked.shown.most_rows, "at most N processes and N groups; 20")
      .value_name("N")
      .check(whole_number(1, 1'000'000));
  const auto formats = report::common(report::watch_formats());
  add_format_option(page, options.format, formats, "with --batch: " + report::format_help(formats, "table"));
  page.add_option("-o,--output", options.output, "with --batch: write to FILE, not to standard output")
      .value_name("FILE");
  page.add_option("--record", options.record, "write every reading to FILE, for --replay").value_name("FILE");
  page.add_option("--replay", options.replay, "show the readings of a file, not of this machine").value_name("FILE");
  page.add_flag("--legend", options.legend, "what each column tells, and where it comes from on this machine");
  add_setting_options(page, options.settings);
  page.add_option("--root", options.asked.root, "where proc/ and sys/ lie").value_name("FOLDER").hidden();
  page.footer(footer);
}

Result<void> understand(const Page& page, WatchOptions& options) {
  if (auto chosen = choose_kinds(options); !chosen) return chosen;
  if (auto chosen = choose_command(page, options); !chosen) return chosen;
  const auto sort = watch::column_named(options.sort);
  if (!sort) {
    return fail(Code::bad_usage, fmt::format("there is no column '{}'", printable(options.sort)),
                "`tally watch --legend` lists all");
  }
  options.asked.shown.sort = *sort;
  for (const std::string& name : split(options.column_names, ',')) {
    if (options.column_names.empty()) break;
    const auto column = watch::column_named(trimmed(name));
    if (!column) {
      return fail(Code::bad_usage, fmt::format("there is no column '{}'", printable(name)),
                  "`tally watch --legend` lists all");
    }
    options.columns.push_back(static_cast<std::size_t>(*column));
  }
  if (!options.replay.empty() && !options.command.empty()) {
    return fail(Code::bad_usage, "--replay shows what was; there is nothing to run beside it", "leave one of them out");
  }
  if (!options.processors.empty()) {
    const auto listed = linux::listed_processors(options.processors);
    if (!listed || listed->empty()) {
      return fail(Code::bad_usage, fmt::format("'{}' is no list of processors", printable(options.processors)),
                  "for example: -C 0,2-3");
    }
    options.asked.shown.processors = *listed;
  }
  const auto format = report::choose_format(report::watch_formats(), options.format, options.output, "table");
  if (!format) return fail(format.error());
  options.form = *format;
  return {};
}

}  // namespace tally::cli
