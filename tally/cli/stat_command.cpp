#include "tally/cli/stat_command.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/cli/attach_options.hpp"
#include "tally/cli/commands.hpp"
#include "tally/cli/control_options.hpp"
#include "tally/cli/default_events.hpp"
#include "tally/cli/event_groups.hpp"
#include "tally/cli/event_tables.hpp"
#include "tally/cli/metric_options.hpp"
#include "tally/cli/pass_descriptions.hpp"
#include "tally/cli/script.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/hardware/event/catalog.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/comparison/baseline.hpp"
#include "tally/tools/history/history_file.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/launch/model_options.hpp"
#include "tally/tools/report/result_output.hpp"
#include "tally/tools/roofline/make_roofline.hpp"
#include "tally/tools/snippet/snippet_counting.hpp"
#include "tally/tools/verification/stored_verification.hpp"
#include "tally/tools/why/missing_feature_report.hpp"
#include "tally/tools/why/native_run.hpp"
#include "tally/tools/why/path_hash_options.hpp"
#include "tally/tools/why/sampled_cycles.hpp"
#include "tally/tools/windows/region_options.hpp"

namespace tally::cli {
namespace {

struct StatOptions {
  std::vector<std::string> event_lists, metric_lists;
  std::string backend = "auto";
  bool quiet = false;
  bool kernel = false;
  std::optional<int> interval_ms, delay_ms, timeout_ms;
  AttachOptions attach;
  ControlOptions control;
  windows::RegionOptions regions;
  snippet::CodeOptions code;
  EventTable table;
  ModelOptions model;
  bool passes = false;
  why::PathOptions path;
  bool native = false, roofline = false;
  bool top_down = false;
  std::string by;
  std::optional<std::string> groups;
  std::vector<std::string> group_notes = {};
  bool from_script = false;
  bool nothing_asked = false;  // neither events nor metrics: count the backend's default set
  report::ResultOptions results;
  comparison::BaselineOptions baseline;
  history::HistoryOptions history;
  measure::StatOptions stat;
};

constexpr const char* stat_examples =
    "Exit code: that of the program, or 128+N if signal N killed it; 2 bad usage, 125 tally could not measure or "
    "write, 126 the program cannot be executed, 127 the program was not found.\n"
    "\n"
    "Ctrl-C goes to the program. If it ends the measurement, tally writes the counts so far and exits by SIGINT. Press "
    "it three times within two seconds to stop without waiting for the program. In scripts use --timeout or SIGTERM "
    "(twice within ten seconds: the same): shells start background jobs with SIGINT ignored. Other signals, such as "
    "SIGHUP and SIGUSR1, reach the program, and counting continues.\n"
    "\n"
    "Examples:\n"
    "  tally stat -- bzip2 -k big.tar\n"
    "  tally stat -e instructions,branches -r 10 -- ./prog\n"
    "  tally stat --metrics loads-per-store,CPUs -- ./prog\n"
    "  tally stat -p 1234 -I 1000 -e instructions,cycles\n"
    "  tally stat --format csv -o result.csv -- make -j4\n"
    "  tally stat --format csv --append -o series.csv -- ./prog\n"
    "  tally stat --model haswell --asm 'imul r12, r11'\n";

// Adds the options for what is counted, and when.
void add_target_options(Page& app, StatOptions& options) {
  add_attach_options(app, options.attach);
  app.add_flag("--kernel", options.kernel, "count user mode and kernel together, except for events with :u or :k")
      .in(counting_group);
  app.add_option("-I,--interval", options.interval_ms, "print counts every MS milliseconds; fewer events without -e")
      .value_name("MS")
      .check(whole_number(1, 86'400'000));
  app.add_option("-D,--delay", options.delay_ms,
                 "start counting MS milliseconds after the program starts; -1: when --control says so")
      .value_name("MS")
      .check(is_delay);
  add_control_options(app, options.control);
  app.add_option("--timeout", options.timeout_ms,
                 "count for MS milliseconds, then send SIGTERM to the program, and SIGKILL 5 s later; with --asm: fail "
                 "if the code runs "
                 "longer (default: 60000, and in proportion for more than 400,000 executed copies)")
      .value_name("MS")
      .check(whole_number(1, 86'400'000));
}

// Adds the options to the page; they are stored in `options`. The arguments after them are the command.
void describe(Page& app, StatOptions& options) {
  app.head("Count events for a command or for running processes, and grade each count.",
           "tally stat [options] ([--] PROGRAM [arguments] | --asm CODE)");
  // Everything from the first argument that is not an option belongs to the program, verbatim.
  app.prefix_command();
  app.add_option("-e,--event", options.event_lists,
                 "count these events: names or codes, separated by commas; may be repeated")
      .repeated()
      .value_name("EVENTS");
  add_event_table_option(app, options.table);
  app.add_option("-M,--metrics", options.metric_lists,
                 "compute these metrics, and count the events they need: names separated by commas, NAME=FORMULA, or "
                 "all; `list` lists the names")
      .repeated()
      .value_name("METRICS");
  app.add_option("-r,--repeat", options.stat.runs,
                 "run the program N times; report median, confidence interval, minimum and maximum")
      .value_name("N")
      .check(whole_number(1, 1'000'000));
  app.add_flag("--passes", options.passes,
               "run the program several times if there are more events than counters, once for each set that fits; "
               "implied by -r")
      .in(counting_group);
  app.add_flag("--multiplex", options.stat.count()->multiplex,
               "time-share the counters if there are more events than counters; report estimates with an error bound")
      .in(counting_group);
  app.add_flag("--keep-going", options.stat.keep_going, "with -r: continue after a run fails");
  add_launch_options(app, options.stat.conditions);
  add_pmu_option(app, options.stat.conditions);
  add_target_options(app, options);
  windows::add_region_options(app, options.regions);
  add_script_option(app, options.from_script);
  snippet::add_code_options(app, options.code);
  app.add_flag("--corrections", options.stat.count()->count_interrupts,
               "show what page faults and interrupts add to PMU counts; uses one counter for interrupts")
      .in(counting_group);
  add_backend_option(app, options.backend, "count with this backend: auto (default), perf, engine, none, stepper");
  why::add_native_option(app, options.native,
                         "report its times, page faults, peak memory and estimated cycles (core-cycles-estimate) from "
                         "that run");
  why::add_roofline_option(app, options.roofline);
  why::add_path_options(app, options.path);
  add_model_options(app, options.model);
  {
    const GroupScope group(app, models_group);
    app.add_option("--by", options.by, "cause: divide cycles among what they are spent on, and count each cause")
        .value_name("cause")
        .one_of({"cause"});
    app.add_flag(
        "--topdown", options.top_down,
        "divide the pipeline's slots among Intel's top-down classes: retiring, bad speculation, frontend bound, "
        "backend bound; by the PMU's own events where the kernel has them, else by a model");
    app.add_option("--group", options.groups,
                   "count the events and metrics of these groups, as likwid-perfctr -g: names separated by commas, "
                   "listed by `tally events --groups`")
        .value_name("GROUPS");
    app.add_flag("--mix", options.stat.count()->mix,
                 "count the instructions by category, by width, and the most frequent names; the engine only");
  }
  add_label_option(app);
  history::add_history_options(app, options.history);
  add_quiet_option(app, options.quiet);
  report::add_result_options(app, options.results, "table", "(default: standard error)");
  comparison::add_baseline_options(app, options.baseline);
  add_engine_tuning(app, options.stat.conditions.engine);
  app.footer(output::format_lines(output::common(output::stat_formats())) + "\n" + stat_examples);
}

std::optional<Nanoseconds> milliseconds(std::optional<int> number) {
  return number ? std::optional<Nanoseconds>(std::chrono::milliseconds(*number)) : std::nullopt;
}

Result<void> choose_target(StatOptions& options) {
  auto attachment = options.attach.choose();
  if (!attachment) return fail(attachment.error());
  options.stat.target.attachment = std::move(*attachment);
  backend::Timing& timing = options.stat.count()->timing;
  timing.interval = milliseconds(options.interval_ms);
  timing.timeout = milliseconds(options.timeout_ms);
  if (options.delay_ms == no_delay)
    timing.starts_off = true;
  else
    timing.delay = milliseconds(options.delay_ms);
  return options.control.choose(options.stat);
}

Result<void> choose_events(StatOptions& options) {
  if (const auto loaded = options.table.load(); !loaded) return loaded;
  if (options.groups)
    if (const auto added = add_groups(*options.groups, options.table.sources(),
                                      {options.event_lists, options.metric_lists, options.group_notes});
        !added)
      return added;
  auto metrics = parse_metrics(options.metric_lists);
  if (!metrics) return fail(metrics.error());
  options.stat.metrics = std::move(*metrics);
  if (options.top_down && !options.by.empty())
    return fail(Code::bad_usage, "--topdown and --by cause divide the same cycles, in two ways", "give one of them");
  std::string causes = options.top_down || !options.by.empty() ? output::cause_events(options.top_down) : "";
  if (options.top_down && options.model.model.empty() && !backend::traits_of(options.backend).is_engine)
    if (std::string group = event::top_down_group(options.table.sources()); !group.empty()) causes = std::move(group);
  if (!causes.empty()) options.event_lists.push_back(std::move(causes));
  if (options.roofline) {
    options.native = true;
    options.event_lists.insert(options.event_lists.end(), {roofline::events, roofline::native_events});
    if (options.model.model.empty()) options.model.model = "host";
  }
  if (!options.event_lists.empty()) {
    event::Sources sources = options.table.sources();
    sources.keeps_missing = true;
    auto events =
        event::parse_lists(options.event_lists, sources, options.kernel ? event::Mode::both : event::Mode::user);
    if (!events) return fail(events.error());
    options.stat.events = std::move(*events);
  } else if (options.stat.metrics.empty()) {
    options.nothing_asked = true;
    options.stat.events = event::default_set();
  }
  if (options.native) {
    auto native = parse_metrics({why::native_metrics(options.stat.events)});
    if (!native) return fail(native.error());
    options.stat.metrics.insert(options.stat.metrics.end(), native->begin(), native->end());
  }
  return add_events_of(options.stat.metrics, options.stat.events);
}

// The error for counts of single processes that a PMU cannot provide.
std::optional<Error> why_no_processes(const StatOptions& options, const backend::Backend& backend) {
  if (!options.stat.count()->processes || !backend.traits().has_pmu_counters) return std::nullopt;
  if (options.stat.target.attachment.processors.empty()) return std::nullopt;
  return Error{Code::bad_usage, "--per-process and --per-thread cannot be used with -a, -C or --cgroup",
               "use them with a command, -p or -t", 0};
}

// Chooses how to count more events than counters; fails unless the user chose a method. Returns the messages to print.
Result<std::vector<std::string>> choose_passes(StatOptions& options, const backend::Backend& backend) {
  const std::vector<event::Event>& events = options.stat.events;
  const event::Plan plan = backend.plan(events, options.stat.count()->count_interrupts);
  if (!plan.too_large.empty()) {
    return fail(
        Code::cannot_measure,
        fmt::format("the group {{{}}} needs more counters than this PMU has", names_of(events, plan.too_large[0])),
        "the events of a group are counted at the same time: remove some, or remove the braces");
  }
  options.stat.count()->multiplex = options.stat.count()->multiplex && plan.passes.size() > 1;
  options.stat.make_room = options.passes && !why_no_passes(options.stat);
  if (plan.passes.size() == 1 || options.stat.count()->multiplex) return std::vector<std::string>{};
  if (!options.passes && options.stat.runs == 1)
    return fail(passes_error(events, plan, !options.stat.target.attachment.any()));
  if (auto why = why_no_passes(options.stat)) return fail(*std::move(why));
  options.stat.passes = plan.passes;
  const std::size_t passes = plan.passes.size();
  const auto executions = static_cast<std::int64_t>(passes) * options.stat.runs;
  std::vector<std::string> messages{
      fmt::format("running the program {} times: {} passes{}", executions, passes,
                  options.stat.runs > 1 ? fmt::format(" in each of {} runs", options.stat.runs) : "")};
  for (std::string& line : lines_of(events, plan)) messages.push_back(std::move(line));
  return messages;
}

// Writes the result, then what its comparison with a baseline found. Returns tally's exit code.
int write_compared(result::Stat& stat, const std::optional<comparison::Baseline>& baseline,
                   report::Destination& destination, linux::Signals& signals) {
  if (!baseline) return final_exit_code(stat, destination.write({&stat, 1}), signals);
  const comparison::Baseline::Outcome outcome = baseline->judge(stat, destination.terminal());
  stat.gate = outcome.verdict;
  const int written = destination.write({&stat, 1});
  if (!destination.is_stream())
    say({outcome.verdict.text});
  else if (destination.is_for_people())
    (void)destination.print(outcome.table);
  const int code = final_exit_code(stat, written, signals);
  return code == exit_ok ? outcome.exit_code : code;
}

// Counts and writes the result. Returns tally's exit code. `options` was checked.
int count(StatOptions& options) {
  const auto baseline =
      comparison::Baseline::open(options.baseline, options.stat.target.command, options.results.output);
  if (!baseline) return report_error(baseline.error());
  const linux::HostMachine machine = linux::read_host_machine();
  std::optional<result::Ceilings> ceilings;
  if (options.roofline) {
    auto measured = roofline::ceilings_of_host();
    if (!measured) return report_error(measured.error());
    ceilings = *std::move(measured);
  }
  auto choice = backend::choose(options.backend, options.stat, machine, options.model.simulation);
  if (!choice) return report_error(choice.error());
  options.stat.usual_events = options.nothing_asked;
  if (options.nothing_asked) {
    options.stat.events =
        default_events(*choice->backend, options.stat.target, options.kernel, options.interval_ms.has_value());
    if (options.native) options.stat.metrics = *parse_metrics({why::native_metrics(options.stat.events)});
  }
  if (const auto added = add_events_of(options.stat.metrics, options.stat.events); !added)
    return report_error(added.error());
  if (*baseline) {
    std::vector<std::string> events;
    for (const event::Event& event : options.stat.events) events.push_back(event::event_name(event).text());
    if (const auto found = (*baseline)->check_events(events); !found) return report_error(found.error());
  }
  if (options.native) {
    if (const auto fits =
            why::check_native(options.stat, *choice->backend, options.roofline ? "--roofline" : "--native");
        !fits)
      return report_error(fits.error());
    choice->notices.emplace_back(why::native_notice);
    if (options.roofline && !options.regions.functions.empty())
      choice->notices.emplace_back(
          "the program runs twice more for the times of functions: under the engine, with calls, and natively, "
          "sampled");
  }
  if (const auto there = check_launch(options.stat); !there) return report_error(there.error());
  if (const auto why = why_no_processes(options, *choice->backend)) return report_error(*why);
  const auto passes = choose_passes(options, *choice->backend);
  if (!passes) return report_error(passes.error());
  choice->notices.insert(choice->notices.end(), passes->begin(), passes->end());
  choice->event_notes.insert(choice->event_notes.end(), options.group_notes.begin(), options.group_notes.end());
  for (std::string& line : choice->backend->notices_before(options.stat)) choice->notices.push_back(std::move(line));
  options.results.style.command = shell_words(options.stat.target.command);
  options.results.style.run_numbers = options.stat.runs > 1;
  auto destination = report::Destination::open(options.results, "table", linux::Output::standard_error());
  if (!destination) return report_error(destination.error());
  if (!destination->format().has_parts && !options.stat.code_regions().empty())
    return report_error(output::parts_error(destination->format()));
  const auto fits = fits_format(destination->format().name, destination->format().fits, options.stat.events,
                                [&](const event::Event& event) { return choice->backend->outlook(event); });
  if (!fits) return report_error(fits.error());
  auto history = history::HistoryFile::open(options.history);
  if (!history) return report_error(history.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());

  const bool for_people = destination->is_for_people(), is_quiet_run = is_quiet(options.quiet);
  // A file for programs contains its notices; on standard error they would corrupt the output.
  const bool may_speak = for_people || !options.results.output.empty();
  if (!choice->notices.empty() && may_speak && !is_quiet_run) say(choice->notices);
  if (destination->is_live()) {
    options.stat.count()->timing.on_interval = [&](const result::Interval& interval) {
      const auto printed = destination->print_interval(interval);
      if (!printed && printed.error().os_errno == EPIPE && options.stat.target.command.empty()) linux::die_of(SIGPIPE);
    };
  }
  auto stat = measure::stat(*choice->backend, options.stat, *signals);
  std::vector<result::Run> native_runs;
  const bool has_regions = stat && options.native && !stat->runs.empty() && !stat->runs.front().regions.empty() &&
                           (options.roofline || roofline::need_times(stat->runs.front().regions));
  const bool has_native = stat && options.native &&
                          why::add_native_runs(*stat, options.stat, machine, *signals, options.model.simulation,
                                               has_regions ? &native_runs : nullptr);
  if (stat && options.roofline)
    stat->roofline = roofline::program_roofline(*stat, has_native ? roofline::native_time(*stat) : std::nullopt,
                                                *std::move(ceilings));
  if (has_regions) roofline::add_native(*stat, native_runs, options.stat.metrics);
  if (stat && stat->roofline && has_native && !options.regions.functions.empty()) {
    const auto counted = why::run_with_calls(options.stat, *signals);
    const auto sampled = counted ? why::sampled_run(options.stat, *signals) : fail(counted.error());
    roofline::add_function_times(*stat->roofline, windows::listed_functions(options.regions.functions), counted,
                                 sampled);
  }
  const linux::Finishing finishing(*signals);
  if (!stat) return report_error(stat.error());
  stat->environment = measure::environment(machine);
  why::report_unasked(*stat);
  why::describe_differences(*stat, options.stat);
  // A table does not show it. Cost: a few files, more in a git repository.
  if (!for_people || !options.results.description.empty() || !options.history.file.empty() || *baseline)
    stat->environment.provenance = provenance();
  // A table contains this notice. For other formats it is printed now, because the file may be read much later.
  if (stat->incomplete && !for_people && !options.results.output.empty()) say(stat->notices);
  // --quiet also omits the notices from the file: `tally report` would print them.
  if (!for_people && !is_quiet_run)
    stat->notices.insert(stat->notices.begin(), choice->notices.begin(), choice->notices.end());
  stat->notices.insert(stat->notices.end(), choice->event_notes.begin(), choice->event_notes.end());
  for (std::string& remark : verify::verification_remarks(*stat)) stat->notices.push_back(std::move(remark));

  const int code = write_compared(*stat, *baseline, *destination, *signals);
  const int stored = history->add(*stat, history::Origin::measured);
  return code != exit_ok ? code : stored;
}

// Counts code instead of a command. Options for running a command do not apply.
int count_assembly(StatOptions& options) {
  const measure::StatOptions& stat = options.stat;
  if (!stat.target.command.empty() || stat.target.attachment.any() || stat.count()->timing.delay ||
      stat.count()->timing.interval || stat.count()->timing.control != nullptr || !stat.code_regions().empty() ||
      !stat.metrics.empty() || options.passes || stat.count()->multiplex || options.native ||
      !options.baseline.file.empty() || options.baseline.gates.any() || !options.history.file.empty()) {
    return report_error({Code::bad_usage, "--asm cannot be combined with these options",
                         "omit the command, -p, -t, -a, -C, -I, --delay, --control, --metrics, --function, --passes, "
                         "--native, --multiplex, --baseline and --history",
                         0});
  }
  snippet::CodeRequest request;
  request.snippet.events = stat.events;
  request.snippet.repeats = stat.runs;
  request.snippet.rdpmc = stat.has_rdpmc();
  request.snippet.processor = stat.conditions.processor;
  request.snippet.limit = stat.count()->timing.timeout;
  request.nothing_asked = options.nothing_asked;
  request.backend = options.backend;
  request.simulation = options.model.simulation;
  request.results = options.results;
  request.quiet = is_quiet(options.quiet);
  return snippet::count_code(options.code, std::move(request));
}

Result<void> choose_command(const Page& app, StatOptions& options) {
  auto command = command_of(app, options.stat.target.attachment.any() || options.code.any(), "tally stat -- ls -l");
  if (command && options.from_script) {
    const auto runner = find_script_runner();
    command = runner ? script_command(std::move(*command), *runner) : fail(runner.error());
  }
  if (!command) return fail(command.error());
  options.stat.target.command = std::move(*command);
  return {};
}

// The rows of entries are windows: the arguments of `tally sample` for them.
std::vector<std::string> sample_arguments(const Page& page, std::vector<std::string> arguments) {
  const std::size_t options = arguments.size() - page.remaining().size();
  for (std::size_t i = 0; i < options; ++i) {
    std::string& word = arguments[i];
    if (word == "--from" || word.starts_with("--from=")) word.replace(0, 6, "--start-at");
    if (word == "--to" || word.starts_with("--to=")) word.replace(0, 4, "--stop-at");
  }
  return arguments;
}

}  // namespace

Result<measure::StatOptions> read_stat_options(const std::vector<std::string>& arguments) {
  StatOptions options;
  Page app;
  describe(app, options);
  if (app.read(arguments)) return fail(Code::bad_usage, "the stored command line of tally is not one of tally stat");
  if (const auto chosen = choose_command(app, options); !chosen) return fail(chosen.error());
  if (const auto chosen = choose_events(options); !chosen) return fail(chosen.error());
  options.stat.usual_events = options.nothing_asked;
  return std::move(options.stat);
}

void describe_stat(Page& page) {
  static StatOptions unused;
  describe(page, unused);
}

int run_stat(const std::vector<std::string>& arguments) {
  StatOptions options;
  Page app;
  describe(app, options);
  if (const auto code = app.read(arguments)) return *code;

  if (options.metric_lists == std::vector<std::string>{"list"}) return print(metric_list());
  if (options.regions.per_entry && !options.regions.functions.empty())
    return report_error({Code::bad_usage, "--per-entry cannot be used with --function",
                         "for a row for each call of a function with one caller: --from FUNCTION --to RETURN_ADDRESS",
                         0});
  if (options.regions.per_entry) return run_sample(sample_arguments(app, arguments));
  if (app.has("--asm") && trimmed(options.code.code).empty())
    return report_error(
        {Code::bad_usage, "--asm: the code is empty", "for example: tally stat --asm 'imul r12, r11'", 0});
  if (options.passes && options.stat.count()->multiplex)
    return report_error(
        {Code::bad_usage, "--passes and --multiplex cannot be used together", "use only one of them", 0});
  if (const auto chosen = choose_target(options); !chosen) return report_error(chosen.error());
  if (const auto chosen = choose_command(app, options); !chosen) return report_error(chosen.error());
  if (const auto chosen = choose_events(options); !chosen) return report_error(chosen.error());
  if (const auto chosen = options.model.choose(); !chosen) return report_error(chosen.error());
  if (const auto chosen = options.path.choose(options.stat); !chosen) return report_error(chosen.error());
  std::vector<backend::CodeRegion> regions;
  if (const auto chosen = windows::choose_regions(options.regions, regions); !chosen)
    return report_error(chosen.error());
  if (!regions.empty()) options.stat.find_functions = windows::function_finder();
  if (!regions.empty() || options.regions.rdpmc)
    options.stat.instrument = backend::Order::Regions{*options.stat.count(), std::move(regions), options.regions.rdpmc};
  options.stat.count()->processes = options.results.style.per_process || options.results.style.per_thread;
  if (!options.code.any() && (!options.code.init.empty() || options.code.unroll || options.code.rounds)) {
    return report_error({Code::bad_usage, "--init, --unroll and --rounds need --asm",
                         "for example: tally stat --asm 'imul r12, r11' --unroll 200", 0});
  }
  if (options.code.any()) return count_assembly(options);
  options.stat.input = linux::Input::read_position();
  return count(options);
}

}  // namespace tally::cli
