#include "programs/watch/session/watch_options.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::session {
namespace {

constexpr const char* watch_footer =
    R"(Rows are CPUs, sockets and the whole system; --per process and --per group add processes and control groups. Columns
are those of Intel PCM, and metrics of the kernel that need no PMU: page faults, context switches, waiting, steal time,
memory pressure. A cell without a source is empty, never 0. --legend and the keys ? and w show the source of each
column, why it is missing, and which permissions would add it.

Keys: q quit; m p g machine, processes, groups; s sort; / filter; c columns; ? legend; w why cells are empty; h header;
space pause; r record to a file; arrows scroll; in a replay n and b step forward and back. Without a terminal that can
move its cursor, tables are printed as with --batch.

The first table appears after one interval. With a PROGRAM, tally watch ends when the program ends, returns its exit
code and prints tables to standard error. Only --fix-frequency and --prefetchers change the machine. tally restores the
settings at the end; if tally was killed, the next tally watch or tally memory restores them. In scripts use -n or
SIGTERM: shells start background jobs with SIGINT ignored.

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
      return fail(Code::bad_usage, fmt::format("--per: unknown rows '{}'", printable(word)),
                  "use core, socket, system, process and group");
    }
  }
  return {};
}

Result<void> choose_command(const command::Page& page, WatchOptions& options) {
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

void describe_watch_options(command::Page& page, WatchOptions& options) {
  page.head("Monitor the machine: show the activity of cores, sockets, processes and control groups every second.",
            "tally watch [options] [-- PROGRAM [arguments]]");
  page.prefix_command();
  page.add_flag("--batch", options.batch, "print tables one after the other, for scripts and pipes");
  page.add_option("-n,--count", options.readings, "exit after N tables")
      .value_name("N")
      .check(command::whole_number(1, 1'000'000'000));
  page.add_option("-I,--interval", options.interval_ms, "read every MS milliseconds (default: 1000)")
      .value_name("MS")
      .check(command::whole_number(10, 86'400'000));
  page.add_option("--per", options.per, "rows to show, separated by commas: core, socket, system, process, group")
      .value_name("ROWS");
  page.add_option("-C,--cpu", options.processors, "show only these CPUs: 0,2-3").value_name("CPUS");
  page.add_option("--columns", options.column_names, "show only these columns: UTIL,IPC,TEMP").value_name("COLUMNS");
  page.add_option("--sort", options.sort, "sort processes and groups by this column (default: UTIL)")
      .value_name("COLUMN");
  page.add_option("--filter", options.asked.shown.filter, "show only processes and groups whose name contains WORD")
      .value_name("WORD");
  page.add_option("--rows", options.asked.shown.most_rows, "show at most N processes and N groups (default: 20)")
      .value_name("N")
      .check(command::whole_number(1, 1'000'000));
  const auto formats = output::common(output::watch_formats());
  command::add_label_option(page);
  command::add_format_option(page, options.format, formats, "with --batch: " + output::format_help(formats, "table"));
  page.add_option("-o,--output", options.output, "with --batch: write to FILE instead of standard output")
      .value_name("FILE");
  page.add_option("--record", options.record, "write every reading to FILE, for --replay").value_name("FILE");
  page.add_option("--replay", options.replay, "show the readings in FILE instead of this machine").value_name("FILE");
  page.add_flag("--legend", options.legend, "explain each column and its source on this machine");
  settings::add_setting_options(page, options.settings);
  page.add_option("--root", options.asked.root, "the directory that contains proc/ and sys/")
      .value_name("FOLDER")
      .hidden();
  page.footer(watch_footer);
}

Result<void> understand(const command::Page& page, WatchOptions& options) {
  if (auto chosen = choose_kinds(options); !chosen) return chosen;
  if (auto chosen = choose_command(page, options); !chosen) return chosen;
  const auto sort = watch::column_named(options.sort);
  if (!sort) {
    return fail(Code::bad_usage, fmt::format("unknown column '{}'", printable(options.sort)),
                "`tally watch --legend` lists the columns");
  }
  options.asked.shown.sort = *sort;
  for (const std::string& name : split(options.column_names, ',')) {
    if (options.column_names.empty()) break;
    const auto column = watch::column_named(trimmed(name));
    if (!column) {
      return fail(Code::bad_usage, fmt::format("unknown column '{}'", printable(name)),
                  "`tally watch --legend` lists the columns");
    }
    options.columns.push_back(static_cast<std::size_t>(*column));
  }
  if (!options.replay.empty() && !options.command.empty()) {
    return fail(Code::bad_usage, "--replay cannot be used with a program", "use only one of them");
  }
  if (!options.processors.empty()) {
    const auto listed = linux::listed_processors(options.processors);
    if (!listed || listed->empty()) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a list of CPUs", printable(options.processors)),
                  "for example: -C 0,2-3");
    }
    options.asked.shown.processors = *listed;
  }
  const auto format = output::choose_format(output::watch_formats(), options.format, options.output, "table");
  if (!format) return fail(format.error());
  options.form = *format;
  return {};
}

}  // namespace tally::session
