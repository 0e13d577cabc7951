#include "tally/cli/profile_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/cli/backend_option.hpp"
#include "tally/cli/common_options.hpp"
#include "tally/cli/launch.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal.hpp"

namespace tally::cli {
namespace {

constexpr const char* examples =
    "Without a PMU the engine counts every instruction where it was executed: the counts of all functions, with what "
    "the "
    "table names beside them, are the totals of tally stat. With a PMU, and of the kernel's own events (cpu-clock, "
    "task-clock, page-faults), the program runs natively and is sampled: shares have an interval. --backend engine "
    "counts exactly on any x86-64 machine.\n"
    "\n"
    "Examples:\n"
    "  tally profile -- ./prog\n"
    "  tally profile -e instructions,loads,stores --lines -- ./prog\n"
    "  tally profile --annotate main -- ./prog\n"
    "  tally profile --by thread -- ./prog\n"
    "  tally profile -e cpu-clock -- ./prog                          # natively, by samples: where the time goes\n"
    "  tally profile -e page-faults -- ./prog                        # natively, every single one\n"
    "  tally profile -p 1234 --calls                                 # a running process, until Ctrl-C\n"
    "  tally profile -a --by process -- sleep 5                      # everything that runs meanwhile\n"
    "  tally profile --inlines -- ./prog                             # inlined functions on their own\n"
    "  tally profile -o before.json -- ./prog                        # tally report before.json after.json: what "
    "changed\n"
    "  tally profile --format callgrind -o callgrind.out -- ./prog   # for KCachegrind\n"
    "  tally profile --format folded -o stacks.txt -- ./prog         # flamegraph.pl stacks.txt >flame.svg\n"
    "  tally profile -o prof.pb.gz -- ./prog                         # go tool pprof -top prof.pb.gz\n"
    "  tally profile --calls -e instructions --format autofdo -o prog.prof -- ./prog   # for clang "
    "-fprofile-sample-use=\n"
    "  tally profile --format cachegrind -o cg.out -- ./prog         # for cg_annotate, cg_diff\n";

constexpr std::pair<const char*, report::ProfileBy> groups[] = {{"function", report::ProfileBy::function},
                                                                {"line", report::ProfileBy::line},
                                                                {"object", report::ProfileBy::object},
                                                                {"process", report::ProfileBy::process},
                                                                {"thread", report::ProfileBy::thread}};

}  // namespace

void describe_profile_options(Page& app, ProfileOptions& options) {
  app.head("Which function, and which line of source, executes and counts how much.",
           "tally profile [options] [--] PROGRAM [arguments]\n  tally profile [options] -p PIDS\n  tally profile "
           "[options] -a [[--] PROGRAM [arguments]]");
  app.prefix_command();
  app.add_option(
         "-e,--event", options.event_lists,
         "what to count at each place: names separated by commas; may be repeated (instructions, loads, stores; "
         "with a PMU cycles)")
      .repeated()
      .value_name("EVENTS");
  app.add_option("--every", options.every,
                 "samples: one of so many events: 50000, 50k, 2M, of a clock so much time: 1ms; 1 takes every single "
                 "one (of page faults the default)")
      .value_name("N");
  app.add_option("--frequency", options.frequency,
                 "samples: so many in a second on a processor (3989); each stands for what came since the last one")
      .check(whole_number(1, 1'000'000))
      .value_name("HZ");
  app.add_flag("--kernel", options.kernel,
               "samples: of the kernel, too, for events without :u or :k; clocks have it where it is allowed");
  app.add_flag("--user", options.order.sampling.user_only, "samples: nothing of the kernel, of clocks neither");
  app.add_option("--by", options.by, "what a row is: function (default), line, object, process, thread")
      .value_name("WHAT");
  app.add_flag("-l,--lines", options.lines, "a row for each line of source; as --by line");
  app.add_flag("--calls", options.order.calls,
               "who called whom, how often, and what calls counted up to their returns; takes more time. Samples have "
               "their chains of calls by frame pointers");
  app.add_option("--sort", options.sort, "rows with --calls: by what functions count themselves (own) or with callees")
      .value_name("own|callees");
  app.add_option("--annotate", options.annotate, "below the table: the source of a function or file, with its counts")
      .value_name("NAME");
  app.add_flag("--asm", options.instructions,
               "with --annotate: the instructions of the function, as objdump prints them; with --format callgrind: "
               "costs of each instruction, for KCachegrind");
  app.add_option("--top", options.top, "rows of the table (40); 0: all").value_name("N");
  app.add_flag("--full-names", options.whole_names, "functions of C++ and Rust with their parameters");
  app.add_flag("--inlines", options.inlines,
               "inlined functions as functions: what they count is theirs, not that of the function that holds them");
  app.add_flag("--debuginfod", options.debuginfod,
               "ask the servers of DEBUGINFOD_URLS for debug files that are not installed here; without it nothing is "
               "asked of a network");
  add_model_options(app, options.model);
  add_launch_options(app, options.order.conditions);
  app.add_option("-p,--pid", options.processes,
                 "instead of a program: processes that run already, with what they start from now on, until they end "
                 "or Ctrl-C; by samples")
      .value_name("PIDS");
  app.add_flag("-a,--all-cpus", options.everywhere,
               "everything that runs on every processor, while the program does, or until Ctrl-C; by samples");
  add_backend_option(app, options.backend,
                     "the backend that counts: auto (default), engine (exactly), perf (by samples)");
  const auto formats = report::common(report::profile_formats());
  add_format_option(app, options.format, formats, report::format_help(formats, "table"));
  app.add_option("-o,--output", options.output, "write it to this file; else to standard error").value_name("FILE");
  add_quiet_option(app, options.quiet);
  add_engine_tuning(app, options.order.conditions.engine);
  app.footer(report::format_lines(formats) + "\n" + examples);
}

Result<report::ProfileStyle> style_of(const ProfileOptions& options) {
  report::ProfileStyle style;
  style.whole_names = options.whole_names;
  style.instructions = options.instructions;
  if (options.top < 0) return fail(Code::bad_usage, "--top is negative", "--top 0 shows all rows");
  style.most = static_cast<std::size_t>(options.top);
  const std::string by = options.lines ? "line" : options.by;
  const auto* const found =
      std::find_if(std::begin(groups), std::end(groups), [&](const auto& g) { return by == g.first; });
  if (found == std::end(groups))
    return fail(Code::bad_usage, fmt::format("--by {} is nothing to group by", printable(by)),
                "it takes function, line, object, process or thread");
  style.by = found->second;
  if (options.sort != "own" && options.sort != "callees")
    return fail(Code::bad_usage, fmt::format("--sort {} is no order", printable(options.sort)), "own or callees");
  style.by_inclusive = options.sort == "callees";
  if (options.output.empty() || options.output == "-")
    style.terminal = linux::terminal_columns(options.output.empty() ? linux::Stream::error : linux::Stream::output);
  return style;
}

Result<const report::ProfileFormat*> format_of(const ProfileOptions& options) {
  if (options.format.empty() && options.output.ends_with(".svg"))
    return fail(Code::bad_usage, fmt::format("no form of a profile is a picture: '{}'", printable(options.output)),
                "-o FILE.html is a page with a flame graph; --format folded is what flamegraph.pl draws");
  return report::choose_format(report::profile_formats(), options.format, options.output, "table");
}

Result<void> check_together(const ProfileOptions& options, const report::ProfileFormat& format) {
  if (options.sort == "callees" && !options.order.calls)
    return fail(Code::bad_usage, "--sort callees goes with --calls", "add --calls");
  if (options.order.calls && format.name == "table" && (options.lines || options.by != "function"))
    return fail(Code::bad_usage, "--calls goes with a row for each function",
                "leave --by and --lines out, or take another --format");
  if (options.instructions && options.annotate.empty() && format.name != "callgrind")
    return fail(Code::bad_usage, "--asm goes with --annotate or --format callgrind",
                "--annotate FUNCTION says of which");
  if (!options.annotate.empty() && format.name != "table")
    return fail(Code::bad_usage, "--annotate goes with the table", "leave --format out");
  if (options.inlines && format.inlined == report::InlinedCodeIs::lines)
    return fail(Code::bad_usage, fmt::format("--format {} tells inlined code by its lines", format.name),
                "leave --inlines out");
  if (options.inlines && options.instructions)
    return fail(Code::bad_usage, "--asm shows functions as they lie in the file", "leave --inlines out");
  if (!options.every.empty() && options.frequency != 0)
    return fail(Code::bad_usage, "--every and --frequency both say how often", "give one of the two");
  if (options.kernel && options.order.sampling.user_only)
    return fail(Code::bad_usage, "--kernel and --user exclude each other", "leave one of the two out");
  return {};
}

}  // namespace tally::cli
