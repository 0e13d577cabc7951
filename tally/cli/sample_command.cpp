#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tally/cli/attach_options.hpp"
#include "tally/cli/commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/counting/measure/merged_windows.hpp"
#include "tally/counting/measure/window_choice.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/terminal_output.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/launch/model_options.hpp"
#include "tally/tools/why/missing_feature_report.hpp"
#include "tally/tools/windows/region_options.hpp"
#include "tally/tools/windows/window_names.hpp"
#include "tally/tools/windows/window_options.hpp"
#include "tally/tools/windows/window_trust.hpp"
#include "tally/tools/windows/window_vectors.hpp"
#include "tally/tools/windows/write_windows.hpp"

namespace tally::cli {
namespace {

struct SampleOptions {
  std::vector<std::string> event_lists;
  windows::WindowOptions windows;
  std::uint64_t merged = 0;  // length of a process's window; 0: windows are per thread
  std::string backend = "auto", format, output, description, processes, vectors;
  bool quiet = false, where = false, everywhere = false, waits = false, waits_again = false;
  measure::WindowChoice choice;
  ModelOptions model;
  backend::Order order = {.instrument = backend::Order::Windows{}};
};

constexpr const char* sample_examples =
    "Windows cover the whole run; they are not statistical samples. `tally profile -e cpu-clock` samples.\n"
    "\n"
    "Each thread has its own windows. The last window of a thread may be incomplete. The rows of a thread are in order "
    "of time.\n"
    "\n"
    "Examples:\n"
    "  tally sample --every 50000 -o windows.csv -- ./prog\n"
    "  tally sample -e loads,stores --every 10k -o windows.jsonl -- ./prog\n"
    "  tally sample --every 1000 --by branches-taken -- ./prog\n"
    "  tally sample -e task-clock,page-faults --every 1ms -- ./prog\n"
    "  tally sample --every 10k --start-at main -- ./prog\n"
    "  tally sample --every 100k --merged -- ./prog\n"
    "  tally sample --frequency 1000 -e task-clock,page-faults -- ./prog\n"
    "  tally sample -a --only gzip --wait --again --every 1ms -o gzip.csv\n"
    "  tally sample --every 1M --only gzip --skip 100 --windows 10 -- ./script\n";

// Checks of an option's text: return what is wrong with it, or an empty text.
std::string no_path(const std::string& text) {
  return text.find('/') != std::string::npos ? "use the file name of the program, without a path" : "";
}
std::string not_negative(const std::string& text) { return text.starts_with('-') ? "must not be negative" : ""; }

void describe(Page& app, SampleOptions& options) {
  app.head("Record a time series: count each thread in windows of N instructions or other events, one row per window.",
           "tally sample [options] --every N [--by EVENT] [--] PROGRAM [arguments]");
  app.prefix_command();
  app.add_option("-e,--event", options.event_lists,
                 "count these events: names or codes, separated by commas; may be repeated")
      .repeated()
      .value_name("EVENTS");
  windows::add_window_options(app, options.windows);
  app.add_option("--only", options.choice.only, "record only programs with this file name; may be repeated")
      .check(no_path)
      .repeated()
      .value_name("NAME");
  app.add_option("--not", options.choice.without, "do not record programs with this file name; may be repeated")
      .check(no_path)
      .repeated()
      .value_name("NAME");
  app.add_option("--skip", options.choice.skip, "do not write the first N windows of each thread")
      .check(not_negative)
      .value_name("N");
  app.add_option("--windows", options.choice.windows, "write at most N windows of each thread; the program continues")
      .check(not_negative)
      .value_name("N");
  app.add_flag("--where", options.where,
               "engine only: add where each window ended: function and source line (table, csv, jsonl)");
  app.add_option("--bbv", options.vectors,
                 "engine only: write basic-block vectors to FILE, for SimPoint, one line per window; further threads: "
                 "FILE.2, FILE.3")
      .value_name("FILE");
  add_launch_options(app, options.order.conditions);
  add_pmu_option(app, options.order.conditions);
  add_process_options(app, options.processes, options.everywhere);
  app.add_flag("--wait", options.waits,
               "wait for the start of a program of --only, and record it until it ends or Ctrl-C; not with the engine");
  app.add_flag("--again", options.waits_again, "with --wait: record each such program, until Ctrl-C");
  add_backend_option(app, options.backend, "count with this backend: auto (default), engine, perf");
  const auto formats = output::common(output::window_formats());
  add_format_option(app, options.format, formats, output::format_help(formats, "table", "csv"));
  app.add_option("-o,--output", options.output, "write the rows to FILE (default: standard error)").output_file();
  app.add_option("--meta", options.description,
                 "write a JSON description of the measurement to FILE (default for csv and hpctool with -o NAME: "
                 "NAME.meta.json)")
      .output_file();
  add_label_option(app);
  add_model_options(app, options.model);
  add_quiet_option(app, options.quiet);
  add_engine_tuning(app, options.order.conditions.engine);
  app.footer(output::format_lines(formats) + "\n" + sample_examples);
}

// Opens the file with the JSON description of the rows; nothing if none is written. Errors: those of linux::Output.
Result<std::optional<linux::Output>> open_description(const SampleOptions& options, const output::WindowFormat& format,
                                                      const linux::Output& rows) {
  std::string path = options.description;
  if (path.empty() && format.needs_description && rows.is_file()) path = options.output + ".meta.json";
  if (path.empty()) return std::nullopt;
  if (linux::same_file(path, options.output))
    return fail(Code::bad_usage, fmt::format("-o and --meta name the same file, '{}'", printable(path)),
                "use another file for --meta");
  auto file = options.description.empty() ? linux::Output::open_derived(path) : linux::Output::open_file(path);
  if (!file) return fail(file.error());
  return *std::move(file);
}

// Prints the format if the file name's extension belongs to no format.
void print_chosen_format(const SampleOptions& options, const output::WindowFormat& format) {
  const std::string_view name = options.output;
  if (!options.format.empty() || format.endings.empty() || output::matched_name_length(format, name) != 0) return;
  const std::size_t dot = name.substr(name.rfind('/') + 1).find('.');
  if (name.empty() || name.starts_with("/dev/") || name == "-" || dot == std::string_view::npos) return;
  say({fmt::format("writing '{}' as {}; use --format for another format", printable(options.output), format.name)});
}

// Checks that the backend and the format support --where and --bbv. Errors: bad_usage.
Result<void> check_where(const SampleOptions& options, const backend::Backend& backend,
                         const output::WindowFormat& format) {
  if (!options.vectors.empty() && !backend.traits().is_engine)
    return fail(Code::bad_usage, "--bbv needs the engine: a PMU does not report which blocks ran in a window",
                "add `--backend engine`, and use windows of instructions, loads, stores or branches");
  if (options.merged != 0 && (options.where || !options.vectors.empty()))
    return fail(Code::bad_usage, "--merged cannot be used with --where or --bbv: they are per thread", "omit --merged");
  if (!options.where) return {};
  if (!backend.traits().is_engine)
    return fail(Code::bad_usage, "--where needs the engine: a PMU does not record what is mapped at an address",
                "add `--backend engine`, and use windows of instructions, loads, stores or branches");
  if (!format.has_locations)
    return fail(Code::bad_usage, fmt::format("the format {} cannot hold functions and lines", format.name),
                "use table, csv or jsonl");
  return {};
}

// Checks the options of --wait. Errors: bad_usage.
Result<void> check_waiting(const SampleOptions& options) {
  const std::string example = "for example: tally sample -a --only gzip --wait --every 1ms";
  if (options.everywhere && !options.waits) return fail(Code::bad_usage, "-a needs --only and --wait", example);
  if (options.waits_again && !options.waits) return fail(Code::bad_usage, "--again needs --wait", example + " --again");
  if (options.waits && options.choice.only.empty())
    return fail(Code::bad_usage, "--wait needs --only: the program to wait for", example);
  if (options.waits && !options.processes.empty())
    return fail(Code::bad_usage, "-p and --wait cannot be used together",
                "-p attaches to running processes, --wait to future ones");
  return {};
}

// Windows of which every count is absent are of no use. Errors: cannot_measure.
Result<void> check_countable(const backend::Order& order, const backend::Backend& backend) {
  std::string why;
  for (const event::Event& event : order.events) {
    const backend::Outlook outlook = backend.outlook(event);
    if (outlook.trust != Trust::absent) return {};
    if (why.empty()) why = outlook.reason;
  }
  return fail(Code::cannot_measure, "none of these events can be counted in these windows: " + why,
              backend.traits().is_engine ? "`tally events` lists what can be counted"
                                         : "the engine counts in windows of instructions: --every 50000");
}

int sample(SampleOptions& options) {
  const auto chosen_format = output::choose_format(output::window_formats(), options.format, options.output,
                                                   options.output.empty() ? "table" : "csv");
  if (!chosen_format) return report_error(chosen_format.error());
  const output::WindowFormat* const format = *chosen_format;
  const linux::HostMachine machine = linux::read_host_machine();
  auto choice = backend::choose(options.backend, options.order, machine, options.model.simulation);
  if (!choice) return report_error(choice.error());
  if (const auto there = check_launch(options.order); !there) return report_error(there.error());
  const auto fits = fits_format(format->name, format->fits, options.order.events,
                                [&](const event::Event& event) { return choice->backend->outlook(event); });
  if (!fits) return report_error(fits.error());
  if (const auto countable = check_countable(options.order, *choice->backend); !countable)
    return report_error(countable.error());
  if (const auto has_room = check_where(options, *choice->backend, *format); !has_room)
    return report_error(has_room.error());
  if (format->is_binary && options.output.empty())
    return report_error({Code::bad_usage, "refusing to write binary data to standard error", "use `-o FILE`", 0});
  auto output = linux::Output::open_file_or_stream(options.output);
  if (!output) return report_error(output.error());
  if (const auto allowed = check_binary_output(*format, *output); !allowed) return report_error(allowed.error());
  auto description = open_description(options, *format, *output);
  if (!description) return report_error(description.error());
  std::optional<windows::WindowVectors> vectors;
  if (!options.vectors.empty()) {
    if (linux::same_file(options.vectors, options.output))
      return report_error({Code::bad_usage,
                           fmt::format("-o and --bbv name the same file, '{}'", printable(options.output)),
                           "use another file for --bbv", 0});
    auto opened = windows::WindowVectors::open(options.vectors);
    if (!opened) return report_error(opened.error());
    vectors.emplace(*std::move(opened));
  }
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  const bool may_speak = !is_quiet(options.quiet);
  if (may_speak) print_chosen_format(options, *format);
  const bool is_apart = format->is_for_people || !options.output.empty();
  if (!choice->notices.empty() && may_speak && is_apart) say(choice->notices);

  windows::WindowRows rows(*format, std::move(*output));
  measure::WindowFilter chosen(options.choice);
  std::vector<std::string> absences;
  std::optional<result::WindowsHead> measured;
  options.order.windows()->sink.on_begin = [&](const result::WindowsHead& head) {
    for (const result::EventCount& event : head.events)
      if (event.count.trust == Trust::absent)
        absences.push_back(fmt::format("{} is absent: {}", event.name.text(), event.count.reason));
    result::WindowsHead whole = head;
    whole.provenance = provenance();
    const backend::Conditions& conditions = options.order.conditions;
    if (conditions.presents_cpu()) whole.cpu_model = conditions.cpu_model;
    if (conditions.counts_clock()) whole.clock = conditions.clock;
    if (conditions.fixes_environment()) whole.program_environment = conditions.environment;
    whole.machine_model = choice->backend->traits().simulates;
    if (options.merged != 0) {
      whole.merged = true;
      whole.triggers.front().every = options.merged;
    }
    rows.begin(whole);
    measured = std::move(whole);
  };
  if (may_speak) options.order.windows()->sink.on_news = [](const std::string& line) { say({line}); };
  windows::WindowNames names;
  options.order.windows()->places = options.where;
  options.order.windows()->vectors = vectors.has_value();
  const auto take = [&](const result::Window& window) {
    if (!chosen.takes(window)) return;
    if (vectors) vectors->row(window);
    if (!options.where) rows.row(window);
    if (options.where) {
      result::Window named = window;
      names.name(named);
      rows.row(named);
    }
    if (!rows.reader_left() || !options.order.target.command.empty()) return;
    if (*description && measured) (void)(*description)->write(rows.describe(*measured) + "\n");
    linux::die_of(SIGPIPE);
  };
  measure::MergedWindows merged(options.merged);
  options.order.windows()->sink.on_window = take;
  if (options.merged != 0)
    options.order.windows()->sink.on_window = [&](const result::Window& part) { merged.add(part); };
  auto stat = measure::sample(*choice->backend, options.order, *signals);
  const linux::Finishing finishing(*signals);
  merged.finish(take);
  const auto reasons = stat && measured ? windows::complete(*measured, *stat) : std::vector<std::string>{};
  auto written = rows.finish(measured.value_or(result::WindowsHead{}));
  if (*description && measured) {
    const auto described = (*description)->write(rows.describe(*measured) + "\n");
    if (written && !described) written = described;
  }
  if (!stat) return report_error(stat.error());
  if (vectors) {
    const auto vectors_written = vectors->finish();
    if (written && !vectors_written) written = vectors_written;
    // Printed despite --quiet: SimPoint cannot read the file.
    if (const std::string too_long = vectors->too_long(); !too_long.empty()) say({too_long});
    if (vectors->files() > 1)
      stat->notices.push_back(fmt::format("basic-block vectors of {} threads: {} to {}.{}", vectors->files(),
                                          printable(options.vectors), printable(options.vectors), vectors->files()));
  }
  why::report_unasked(*stat);
  why::report_models(*stat);
  for (std::string& notice : chosen.notices()) stat->notices.push_back(std::move(notice));
  if (!format->is_for_people) stat->notices.insert(stat->notices.end(), absences.begin(), absences.end());
  // Printed despite --quiet, as other commands print the reason for a count's trust.
  if (!reasons.empty()) say(reasons);
  const std::string all = join(reasons, "\n");
  std::erase_if(stat->notices, [&](const std::string& notice) { return all.find(notice) != std::string::npos; });
  if (!stat->notices.empty() && (may_speak || is_apart || stat->incomplete)) say(stat->notices);
  return final_exit_code(*stat, written ? int{exit_ok} : report_error(written.error()), *signals);
}

}  // namespace

void describe_sample(Page& page) {
  static SampleOptions unused;
  describe(page, unused);
}

int run_sample(const std::vector<std::string>& arguments) {
  SampleOptions options;
  Page app;
  describe(app, options);
  if (const auto code = app.read(arguments)) return *code;
  if (const auto fits = check_waiting(options); !fits) return report_error(fits.error());
  if (options.waits) options.order.target.attachment.awaited = options.choice.only;
  options.order.windows()->awaits_next = options.waits_again;
  const bool attached = !options.processes.empty() || options.waits;
  auto command = command_of(app, attached, "tally sample --every 50000 -- ls -l");
  if (!command) return report_error(command.error());
  options.order.target.command = std::move(*command);
  if (attached && !options.order.target.command.empty())
    return report_error(
        {Code::bad_usage, fmt::format("{} and a program cannot be used together", options.waits ? "--wait" : "-p"),
         fmt::format("omit the program; {} counts until the processes end", options.waits ? "--wait" : "-p"), 0});
  auto processes = ids_of(options.processes, "process");
  if (!processes) return report_error(processes.error());
  options.order.target.attachment.processes = std::move(*processes);
  if (const auto chosen = options.model.choose(); !chosen) return report_error(chosen.error());
  if (const auto chosen = windows::choose_windows(options.windows, *options.order.windows(), options.merged); !chosen)
    return report_error(chosen.error());
  options.order.find_functions = windows::function_finder();
  const bool by_kernel = backend::all_software(options.order.windows()->triggers);
  const std::vector<std::string> usual{by_kernel ? "task-clock,page-faults,context-switches,cpu-migrations"
                                                 : "instructions,branches,loads,stores"};
  auto events = event::parse_lists(options.event_lists.empty() ? usual : options.event_lists, {}, event::Mode::user);
  if (!events) return report_error(events.error());
  options.order.events = std::move(*events);
  return sample(options);
}

}  // namespace tally::cli
