#include "tally/cli/profile_options.hpp"

#include "tally/cli/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/cli/attach_options.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/analysis/coverage.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/perf_habits.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/why/native_run.hpp"

namespace tally::cli {
namespace {

constexpr const char* profile_examples =
    "Without a PMU the engine executes the program and counts exactly: the counts of all rows add up to those of tally "
    "stat. With a PMU, and for the kernel's software events (cpu-clock, task-clock, page-faults), the program runs "
    "natively and is sampled; the table shows an error interval. --backend engine counts exactly on any x86-64 "
    "machine.\n"
    "\n"
    "Examples:\n"
    "  tally profile -- ./prog\n"
    "  tally profile -e instructions,loads,stores --lines -- ./prog\n"
    "  tally profile --annotate main -- ./prog\n"
    "  tally profile --by thread -- ./prog\n"
    "  tally profile --inlines -- ./prog\n"
    "  # Loads, arithmetic, vectors, branches of each function\n"
    "  tally profile --mix -- ./prog\n"
    "  # Native, sampled: where the time goes; every page fault\n"
    "  tally profile -e cpu-clock -- ./prog\n"
    "  tally profile -e page-faults -- ./prog\n"
    "  # A running process until Ctrl-C, for 5 seconds; all processes for 5 seconds\n"
    "  tally profile -p 1234 --calls\n"
    "  tally profile -p 1234 -- sleep 5\n"
    "  tally profile -a --by process -- sleep 5\n"
    "  # For tally compare before.json after.json\n"
    "  tally profile -o before.json -- ./prog\n"
    "  # For other tools: KCachegrind, flamegraph.pl, go tool pprof\n"
    "  tally profile --format callgrind -o callgrind.out -- ./prog\n"
    "  tally profile --format folded -o stacks.txt -- ./prog\n"
    "  tally profile -o prof.pb.gz -- ./prog\n"
    "  # cg_annotate; clang -fprofile-sample-use=prog.prof\n"
    "  tally profile --format cachegrind -o cg.out -- ./prog\n"
    "  tally profile --calls --format autofdo -o prog.prof -- ./prog\n"
    "  # Coverage, for genhtml and CI servers\n"
    "  tally profile -o prog.info --fail-under 80% -- ./prog\n"
    "  # llvm-bolt -data=prog.fdata\n"
    "  tally profile -o prog.fdata -- ./prog\n";

constexpr std::string_view groups[] = {"function", "line", "object", "process", "thread"};  // in the order of ProfileBy

}  // namespace

void describe_profile_options(Page& app, ProfileOptions& options) {
  app.head("Show what each function and source line executed.",
           "tally profile [options] [--] PROGRAM [arguments]\n  tally profile [options] (-p PIDS | -a) [[--] PROGRAM "
           "[arguments]]");
  app.prefix_command();
  app.add_option("-e,--event", options.event_lists,
                 "count these events: names separated by commas; may be repeated (instructions, loads, stores; with a "
                 "PMU cycles)")
      .repeated()
      .value_name("EVENTS");
  app.add_option("-r,--repeat", options.runs,
                 "run the program N times under the engine; show the median run, and mark functions that differ")
      .value_name("N")
      .check(whole_number(1, 1'000));
  app.add_option("--every", options.every,
                 "sample every N events (50000, 50k, 2M), or after this time (1ms, for clocks); 1 records every event "
                 "(default for page-faults)")
      .value_name("N");
  app.add_option("--frequency", options.frequency, "sample HZ times per second and CPU (default: 3989)")
      .check(whole_number(1, 1'000'000))
      .value_name("HZ");
  app.add_flag("--kernel", options.kernel,
               "also sample the kernel, except for events with :u or :k; clocks do so by default if permitted");
  app.add_flag("--user", options.order.profile()->sampling.user_only, "sample user mode only, for clocks too");
  app.add_option("--by", options.by, "one row per function (default), line, object, process, thread")
      .value_name("ROWS");
  app.add_flag("-l,--lines", options.lines, "one row per source line; the same as --by line");
  app.add_flag(
      "--calls", options.order.profile()->calls,
      "also record calls, with call counts and inclusive counts; slower. Samples record call stacks by frame pointers");
  app.add_flag("--mix", options.order.profile()->mix,
               "also show which instructions each row executed: vectors, categories, names; formats table and json; "
               "the engine only");
  app.add_flag(
      "--python", options.python,
      "also count the functions of Python 3.11 to 3.13 programs; the engine only; formats table, html, json and "
      "callgrind; on by itself if PROGRAM is python or a Python script");
  app.add_option("--sort", options.sort,
                 "with --calls: sort by counts of the function alone (own), or including callees; with --format order: "
                 "by instructions (own) or by first execution (first)")
      .value_name("own|callees|first");
  app.add_option("--annotate", options.annotate, "also print the source of a function or file, with its counts")
      .value_name("NAME");
  app.add_flag("--asm", options.instructions,
               "with --annotate: print the function's instructions (uses objdump); with --format callgrind: counts per "
               "instruction, for KCachegrind");
  app.add_option("--top", options.top, "rows of the table; 0: all (default: 40; 10 with --annotate or --roofline)")
      .value_name("N");
  app.add_flag("--full-names", options.whole_names, "print C++ and Rust functions with their parameters");
  app.add_flag("--inlines", options.inlines, "attribute counts to inlined functions, not to their callers");
  app.add_option("--object", options.object,
                 "with --format bolt, bolt-preagg and order: the program or library to optimize (default: PROGRAM)")
      .value_name("FILE")
      .in(files_group);
  app.add_option(
         "--include", options.include,
         "with --format lcov and cobertura: only source files whose path, or its end, matches this pattern, such "
         "as 'src/*'; may be repeated")
      .repeated()
      .value_name("PATTERN")
      .in(files_group);
  app.add_option("--exclude", options.exclude, "with --format lcov and cobertura: without these source files")
      .repeated()
      .value_name("PATTERN")
      .in(files_group);
  app.add_option("--fail-under", options.fail_under_text,
                 "with --format lcov and cobertura: exit with 1 if less than this share of the lines was executed")
      .value_name("PERCENT")
      .in(files_group);
  app.add_flag(
      "--debuginfod", options.debuginfod,
      "download missing debug files, from the servers in DEBUGINFOD_URLS; otherwise tally does not use the network");
  app.add_flag(
         "--parts", options.parts,
         "with --format callgrind: write a file for each part that marks in the program end (CALLGRIND_DUMP_STATS "
         "and others), as callgrind does: FILE.1, FILE.2 …, FILE")
      .in(files_group);
  app.add_option("--instr-atstart", options.instrumentation_at_start,
                 "--parts, with instrumentation on (yes) or off (no) at the start (default: the first mark decides)")
      .one_of({"yes", "no"})
      .in(files_group);
  app.add_option("--collect-atstart", options.collection_at_start, "--parts, with collection on or off at the start")
      .one_of({"yes", "no"})
      .in(files_group);
  add_model_options(app, options.model);
  why::add_native_option(app, options.native,
                         "add core-cycles-estimate, its estimated cycles, divided among functions by samples");
  why::add_roofline_option(app, options.roofline);
  add_launch_options(app, options.order.conditions);
  add_pmu_option(app, options.order.conditions);
  add_process_options(app, options.processes, options.everywhere);
  app.add_option("--timeout", options.timeout_ms, "with -p or -a: stop after MS milliseconds")
      .value_name("MS")
      .check(whole_number(1));
  add_backend_option(app, options.backend, "count with this backend: auto (default), engine (exact), perf (sampling)");
  const auto formats = output::common(output::profile_formats());
  add_format_option(app, options.format, formats, output::format_help(formats, "table"));
  app.add_option("-o,--output", options.output, "write the profile to FILE (default: standard error)").output_file();
  add_label_option(app);
  add_host_option(app);
  add_quiet_option(app, options.quiet);
  add_engine_tuning(app, options.order.conditions.engine);
  app.footer(output::format_lines(formats) + "\n" + profile_examples);
}

Result<output::ProfileStyle> style_of(const ProfileOptions& options) {
  output::ProfileStyle style;
  style.whole_names = options.whole_names;
  style.instructions = options.instructions;
  const int top = options.top.value_or(options.roofline || !options.annotate.empty() ? 10 : 40);
  if (top < 0) return fail(Code::bad_usage, "--top must not be negative", "--top 0 shows all rows");
  style.most = static_cast<std::size_t>(top);
  style.coverage = {options.include, options.exclude};
  const std::string by = options.lines ? "line" : options.by;
  const auto* const found = std::find(std::begin(groups), std::end(groups), by);
  if (found == std::end(groups))
    return fail(
        Code::bad_usage, fmt::format("--by {}: unknown grouping", printable(by)),
        by == "cause" ? std::string(command::causes_of_profile) : "use function, line, object, process or thread");
  style.by = static_cast<output::ProfileBy>(found - std::begin(groups));
  if (options.sort != "own" && options.sort != "callees" && options.sort != "first")
    return fail(Code::bad_usage, fmt::format("--sort {}: unknown order", printable(options.sort)),
                "use own, callees or first");
  style.by_inclusive = options.sort == "callees";
  style.by_first = options.sort == "first";
  if (options.output.empty() || options.output == "-")
    style.terminal = linux::terminal_columns(options.output.empty() ? linux::Stream::error : linux::Stream::output);
  return style;
}

Result<const output::ProfileFormat*> format_of(const ProfileOptions& options) {
  if (options.format.empty() && options.output.ends_with(".svg"))
    return fail(Code::bad_usage,
                fmt::format("tally cannot write a profile as a picture: '{}'", printable(options.output)),
                "-o FILE.html writes a page with a flame graph; --format folded is input for flamegraph.pl");
  return output::choose_format(output::profile_formats(), options.format, options.output, "table");
}

namespace {

backend::ProfileParts::AtStart at_start(const std::string& word) {
  using AtStart = backend::ProfileParts::AtStart;
  if (word.empty()) return AtStart::automatic;
  return word == "yes" ? AtStart::on : AtStart::off;
}

}  // namespace

Result<void> choose_parts(ProfileOptions& options, const output::ProfileFormat& format) {
  const bool any = options.parts || !options.instrumentation_at_start.empty() || !options.collection_at_start.empty();
  if (!any) return {};
  if (format.name != "callgrind")
    return fail(Code::bad_usage, "a profile in parts needs --format callgrind", "add --format callgrind");
  options.order.profile()->parts =
      backend::ProfileParts{at_start(options.instrumentation_at_start), at_start(options.collection_at_start)};
  return {};
}

Result<void> choose_coverage(ProfileOptions& options, const output::ProfileFormat& format) {
  if (!format.is_coverage && (!options.include.empty() || !options.exclude.empty() || !options.fail_under_text.empty()))
    return fail(Code::bad_usage, "--include, --exclude and --fail-under need --format lcov or cobertura",
                "add --format lcov");
  if (options.fail_under_text.empty()) return {};
  const auto percent = output::parse_coverage_limit(options.fail_under_text);
  if (!percent) return fail(percent.error());
  options.fail_under = *percent;
  return {};
}

Result<void> check_together(const ProfileOptions& options, const output::ProfileFormat& format) {
  if (options.sort == "first" && format.name != "order")
    return fail(Code::bad_usage, "--sort first needs --format order", "add --format order");
  if (options.sort == "callees" && !options.order.profile()->calls)
    return fail(Code::bad_usage, "--sort callees needs --calls", "add --calls");
  if (options.order.profile()->calls && format.is_for_people && (options.lines || options.by != "function"))
    return fail(Code::bad_usage, "--calls needs one row per function",
                "omit --by and --lines, or use another --format");
  if (options.instructions && options.annotate.empty() && format.name != "callgrind")
    return fail(Code::bad_usage, "--asm needs --annotate or --format callgrind", "add --annotate FUNCTION");
  if (!options.annotate.empty() && !format.is_for_people)
    return fail(Code::bad_usage, "--annotate needs the table format", "omit --format");
  if (options.inlines && format.inlined == output::InlineRepresentation::lines)
    return fail(
        Code::bad_usage,
        fmt::format("--inlines cannot be used with --format {}, which shows inlined code by its lines", format.name),
        "omit --inlines");
  if (!options.object.empty() && !format.of_one_file)
    return fail(Code::bad_usage, "--object needs --format bolt, bolt-preagg or order", "omit --object");
  if (options.order.has_mix() && format.name != "table" && format.name != "json")
    return fail(Code::bad_usage, fmt::format("--mix cannot be used with --format {}", format.name),
                "use --format json, or omit --format");
  if (options.inlines && options.instructions)
    return fail(Code::bad_usage, "--asm cannot be used with --inlines", "omit --inlines");
  if (!options.every.empty() && options.frequency != 0)
    return fail(Code::bad_usage, "--every and --frequency cannot be used together", "use only one of them");
  if (options.kernel && options.order.profile()->sampling.user_only)
    return fail(Code::bad_usage, "--kernel and --user cannot be used together", "use only one of them");
  return {};
}

}  // namespace tally::cli
