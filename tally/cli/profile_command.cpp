#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "tally/cli/commands.hpp"
#include "tally/cli/profile_options.hpp"
#include "tally/cli/python_program.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/backend/engine_only.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/counting/profile/debug_servers.hpp"
#include "tally/counting/profile/resolve_profile.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/perf_map.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/analysis/coverage.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/analysis/jumped_functions.hpp"
#include "tally/output/analysis/profile_inlines.hpp"
#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_parts.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/run_spread.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/text/profile_table.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/periods.hpp"
#include "tally/tools/command/terminal_output.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/launch/model_options.hpp"
#include "tally/tools/report/source_reader.hpp"
#include "tally/tools/roofline/make_roofline.hpp"
#include "tally/tools/why/missing_feature_report.hpp"
#include "tally/tools/why/native_run.hpp"
#include "tally/tools/why/repeated_profile.hpp"
#include "tally/tools/why/sampled_cycles.hpp"

namespace tally::cli {
namespace {

// Only the engine's counts and those of its models have code locations; the kernel's events have none.
Result<void> check_events(const backend::Order& order) {
  constexpr std::size_t most_sums = 4;  // of a call
  std::size_t counted = 0, modelled = 0;
  bool has_instructions = false;  // by which events of models are divided
  for (const event::Event& event : order.events) {
    const event::Kind kind = event::definition(event.id).kind;
    has_instructions = has_instructions || event.id == event::Id::instructions;
    counted += kind == event::Kind::hardware;
    modelled += kind == event::Kind::microarchitectural;
    if (kind == event::Kind::hardware || kind == event::Kind::microarchitectural) continue;
    return fail(Code::bad_usage, fmt::format("{} cannot be profiled", printable(event.asked)),
                "profile instructions, loads, stores, branches, or misses and cycles of a model");
  }
  if (!order.has_calls()) return {};
  if (modelled != 0 && order.parts() != nullptr)
    return fail(Code::bad_usage, "--parts with --calls cannot record events of a model", "omit one of them");
  const bool adds_instructions = modelled != 0 && !has_instructions;
  if (counted + adds_instructions <= most_sums) return {};
  return fail(
      Code::bad_usage,
      fmt::format("more than {}{} events with --calls", most_sums - adds_instructions, modelled != 0 ? " counted" : ""),
      "count the others in another run");
}

Result<std::string> annotation(const result::Profile& profile, const std::string& name,
                               const output::ProfileStyle& style) {
  return style.instructions
             ? output::annotated_instructions(profile, name, report::instruction_reader(), style.terminal)
             : output::annotated(profile, name, report::source_reader(), style.terminal);
}

// Whether a PMU of this machine can be sampled.
bool has_pmu(const linux::HostMachine& machine) {
  if (machine.pmus.empty()) return false;
  const auto cycles = event::parse_lists({"cycles"}, {}, event::Mode::user);
  if (!cycles) return false;
  return backend::choose("perf", {.events = *cycles, .instrument = backend::Order::Profile{}}, machine).has_value();
}

bool wants_samples(const ProfileOptions& options) {
  return options.frequency != 0 || !options.every.empty() || !options.processes.empty() || options.everywhere ||
         backend::traits_of(options.backend).has_pmu_counters;
}

// The default events: with a simulated machine, instructions and its misses; with a PMU, cycles.
std::string usual_events(const ProfileOptions& options, const output::ProfileFormat& format, bool by_engine,
                         const linux::HostMachine& machine) {
  if (!by_engine && has_pmu(machine)) return "cycles";
  if (!by_engine && wants_samples(options)) return "cpu-clock";
  if (format.has_calls || options.order.has_mix() || (options.order.profile()->calls && options.model.simulation))
    return "instructions";
  return options.model.simulation ? "instructions,L1-dcache-load-misses,LLC-load-misses" : "instructions,loads,stores";
}

// Rejects options that the engine does not support.
Result<void> check_engine(const ProfileOptions& options) {
  if (!options.every.empty() || options.frequency != 0)
    return fail(Code::bad_usage,
                "--every and --frequency cannot be used with the engine, which counts every instruction",
                "omit them; cpu-clock, task-clock and page-faults are sampled on every machine");
  return check_events(options.order);
}

Result<void> choose_samples(ProfileOptions& options, const output::ProfileFormat& format) {
  if (format.needs_executions)
    return fail(Code::bad_usage,
                fmt::format("--format {} needs exact execution counts, which samples do not provide", format.name),
                "add `--backend engine`");
  options.order.profile()->sampling.frequency = options.frequency;
  if (options.every.empty()) return {};
  const auto period = period_of(options.every, "--every");
  if (!period) return fail(period.error());
  for (const event::Event& event : options.order.events)
    if (auto fits = check_period(*period, event, "--every " + options.every); !fits) return fits;
  options.order.profile()->sampling.every = period->number;
  return {};
}

/// Adds the causes of cycles, and instructions, if the cycles of a model are counted.
Result<void> add_causes(std::vector<event::Event>& events) {
  const auto is_cycles = [](const event::Event& event) {
    return event.id == event::Id::cycles && event.mode == event::Mode::user;
  };
  if (std::none_of(events.begin(), events.end(), is_cycles)) return {};
  auto causes = event::parse_lists({output::cause_events(false)});
  if (!causes) return fail(causes.error());
  for (event::Event& cause : *causes)
    if (std::none_of(events.begin(), events.end(),
                     [&](const event::Event& event) { return event::name(event) == event::name(cause); }))
      events.push_back(std::move(cause));
  return {};
}

// As in `tally stat`: natively if the events can be counted that way, else with the engine.
Result<backend::Choice> choose_backend(ProfileOptions& options, const output::ProfileFormat& format,
                                       const linux::HostMachine& machine) {
  const bool by_engine = backend::traits_of(options.backend).is_engine ||
                         backend::needs_engine(options.order, options.model.simulation.has_value()) ||
                         (options.backend == "auto" && format.needs_executions);
  auto events = event::parse_lists(options.event_lists.empty()
                                       ? std::vector<std::string>{usual_events(options, format, by_engine, machine)}
                                       : options.event_lists,
                                   {}, options.kernel ? event::Mode::both : event::Mode::user);
  if (!events) return fail(events.error());
  options.order.events = *std::move(events);
  if (format.has_calls && options.order.events.size() > 1)
    return fail(Code::bad_usage, fmt::format("--format {} can hold only one event", format.name),
                "count the others in another run");
  if (by_engine)
    if (const auto fits = check_engine(options); !fits) return fail(fits.error());
  auto choice = backend::choose(by_engine && options.backend == "auto" ? "engine" : options.backend, options.order,
                                machine, options.model.simulation);
  if (!choice) return choice;
  const auto fits = choice->backend->traits().is_engine ? check_engine(options) : choose_samples(options, format);
  if (!fits) return fail(fits.error());
  if (options.python && !choice->backend->traits().is_engine)
    return fail(Code::bad_usage, "--python needs the engine: samples do not follow Python's frames",
                "add `--backend engine`");
  if (choice->backend->traits().is_engine)
    if (const auto chosen = choose_python(options.order, options.python, format); !chosen) return fail(chosen.error());
  if (choice->backend->traits().is_engine && !format.has_calls && options.order.parts() == nullptr &&
      (format.is_for_people || format.is_page || format.name == "json"))
    if (const auto added = add_causes(options.order.events); !added) return fail(added.error());
  if (options.event_lists.empty() && options.order.events.front().id == event::Id::cpu_clock)
    choice->notices.insert(choice->notices.begin(),
                           "no PMU of this machine can be sampled: cpu-clock (CPU time) is sampled instead of"
                           " cycles");
  return choice;
}

/// Returns the file of a part: a suffix of its number distinguishes it from the last one of its process, and one of the
/// process ID from those of the first process.
std::string file_of(const std::string& output, const result::Profile& profile, const result::CodePart& part) {
  std::string file = output;
  if (part.pid != profile.parts.front().pid) file += fmt::format(".{}", part.pid);
  return part.is_last ? file : fmt::format("{}.{}", file, part.number);
}

/// Writes the parts of a profile: to files of their own, or one after the other to a stream.
Result<void> write_parts(const result::Profile& profile, const output::ProfileFormat& format,
                         const output::ProfileStyle& style, const std::string& output, linux::Output& first) {
  const bool is_stream = !first.is_file();
  std::string text;
  for (std::size_t i = 0; i < profile.parts.size(); ++i) {
    const std::string one = format.write(output::profile_of_part(profile, i), style);
    const std::string file = file_of(output, profile, profile.parts[i]);
    if (is_stream) {
      text += one;
    } else if (file == output) {
      if (const auto written = first.write(one); !written) return written;
    } else {
      auto other = linux::Output::open_file(file);
      if (!other) return fail(other.error());
      if (const auto written = other->write(one); !written) return written;
    }
  }
  return is_stream ? first.write(text) : Result<void>{};
}

// A roofline takes the program's time from a native run, and those of functions from another one, which is sampled.
result::Roofline roofline_of(const result::Profile& counted, result::Ceilings ceilings,
                             const measure::StatOptions& options, const linux::HostMachine& machine,
                             linux::Signals& signals, std::vector<std::string>& notices) {
  const auto native = why::native_times(counted.stat, options, machine, signals);
  if (!native) notices.push_back(native.error().message);
  const auto time = native ? roofline::native_time(*native) : std::nullopt;
  result::Roofline roofline = roofline::program_roofline(counted.stat, time, std::move(ceilings));
  if (!time) return roofline;
  const auto sampled = why::sampled_run(options, signals);
  if (sampled)
    roofline::add_functions(roofline, counted, *sampled);
  else
    notices.push_back("functions have no times: " + sampled.error().message);
  return roofline;
}

/// Returns the file that a format with branches is for: by default the program's.
std::string object_of(const ProfileOptions& options) {
  const auto& command = options.order.target.command;
  const std::string name = !options.object.empty() ? options.object : command.empty() ? "" : command.front();
  if (!options.object.empty() && name.find('/') == std::string::npos) return name;
  const auto path = linux::find_program(name, linux::search_path());
  std::error_code missing;
  const auto real = std::filesystem::canonical(path ? *path : name, missing);
  return missing ? name : real.string();
}

int profile(ProfileOptions& options) {
  const auto chosen_format = format_of(options);
  if (!chosen_format) return report_error(chosen_format.error());
  const output::ProfileFormat* const format = *chosen_format;
  if (format->has_calls) options.order.profile()->calls = true;
  if (format->of_one_file || format->name == "code") {
    options.order.profile()->calls = false;  // these formats do not contain call stacks
    options.order.profile()->jumps = true;
  }
  if (const auto fits = check_together(options, *format); !fits) return report_error(fits.error());
  if (const auto fits = choose_parts(options, *format); !fits) return report_error(fits.error());
  if (const auto fits = choose_coverage(options, *format); !fits) return report_error(fits.error());
  auto style = style_of(options);
  if (!style) return report_error(style.error());
  if (format->is_page || format->is_coverage || format->name == "json") style->source = report::source_reader();
  if (format->is_page) style->disassembly = report::instruction_reader();
  const bool may_speak = !is_quiet(options.quiet);
  if (options.debuginfod) {
    const auto asked = profile::ask_debug_servers([may_speak](const std::string& line) {
      if (may_speak) say({line});
    });
    if (!asked) return report_error(asked.error());
  }
  result::Ceilings ceilings;
  if (options.roofline) {
    auto measured = roofline::ceilings_of_host();
    if (!measured) return report_error(measured.error());
    ceilings = *std::move(measured);
    options.event_lists.emplace_back(roofline::events);
  }
  const linux::HostMachine machine = linux::read_host_machine();
  auto choice = choose_backend(options, *format, machine);
  if (!choice) return report_error(choice.error());
  if (const auto there = check_launch(options.order); !there) return report_error(there.error());
  measure::StatOptions native{options.order, linux::Input::read_position(), options.runs};
  if (options.runs > 1)
    if (const auto fits = why::check_repeat(native, *choice->backend); !fits) return report_error(fits.error());
  if (options.native) {
    if (const auto fits = why::check_native_profile(native, *choice->backend); !fits) return report_error(fits.error());
    choice->notices.emplace_back(why::native_profile_notice);
    const auto has_operations = [](const std::string& list) { return list.find("fp-operations") != list.npos; };
    if (!options.roofline && std::any_of(options.event_lists.begin(), options.event_lists.end(), has_operations))
      choice->notices.emplace_back("GFLOP/s of each function: --roofline");
  }
  if (options.roofline) {
    if (const auto fits = why::check_native(native, *choice->backend, "--roofline"); !fits)
      return report_error(fits.error());
    choice->notices.emplace_back(
        "the program runs twice more, natively, for its time and those of its functions (--roofline)");
  }
  auto output = linux::Output::open_file_or_stream(options.output);
  if (!output) return report_error(output.error());
  if (const auto allowed = check_binary_output(*format, *output); !allowed) return report_error(allowed.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  // A notice on standard error would corrupt a machine-readable profile there.
  const bool is_apart = format->is_for_people || !options.output.empty();
  if (may_speak && !choice->notices.empty() && is_apart) say(choice->notices);
  result::CodeCounts code;
  const Nanoseconds began = linux::time_since_1970();
  std::map<std::int64_t, Nanoseconds> started;
  for (const int process : options.order.target.attachment.processes)
    if (const auto time = linux::process_started(process)) started[process] = *time;
  std::vector<why::ProfiledRun> others;
  auto stat = why::profile_runs(*choice->backend, native, code, others, *signals);
  native.runs = 1;
  double kernel_share = 0;
  if (stat && options.native)
    kernel_share = why::add_native_cycles(code, *stat, native, machine, *signals, options.model.simulation);
  const linux::Finishing finishing(*signals, options.order.target.command.empty()
                                                 ? linux::Finishing::Ends::by_signal
                                                 : linux::Finishing::Ends::with_program);
  if (!stat) return report_error(stat.error());
  code.began = began;
  code.started = std::move(started);
  stat->environment = measure::environment(machine);
  why::report_unasked(*stat);
  if (!format->is_for_people) why::report_models(*stat);
  stat->environment.provenance = provenance();
  hide_host(stat->environment, *format);
  const bool of_rows = format->has_lines || style->by == output::ProfileBy::line || !options.annotate.empty() ||
                       output::CauseColumns::find(stat->events).has_value();
  const bool finds_inlines = options.inlines || format->inlined == output::InlineRepresentation::frames;
  profile::Lines lines{.of_rows = of_rows};
  if (format->is_for_people && !of_rows && !finds_inlines)
    lines.chosen = [&](const result::Profile& profile) { return output::shown_functions(profile, *style); };
  result::Profile made = profile::resolve(std::move(code), *stat, std::move(lines),
                                          finds_inlines ? profile::Inlines::yes : profile::Inlines::no,
                                          format->is_coverage   ? profile::Additions::coverage
                                          : format->of_one_file ? profile::Additions::branches
                                                                : profile::Additions::none);
  if (options.native) why::divide_estimate(made, kernel_share, native, *signals);
  if (options.roofline)
    made.stat.roofline = roofline_of(made, std::move(ceilings), native, machine, *signals, made.stat.notices);
  if (linux::is_interrupted()) {
    stat->incomplete = made.stat.incomplete = true;
    made.stat.notices.emplace_back("the profile is incomplete: tally was interrupted while it read symbol names");
  }
  stat->notices = made.stat.notices;
  if (made.stat.incomplete)
    for (result::Event& event : made.stat.events)
      if (Count& count = event.total.count; count.trust != Trust::absent) {
        count.trust = Trust::partial;
        if (count.reason.empty()) count.reason = "interrupted before all counts and names were collected";
      }
  const bool shows_trust = format->is_for_people || format->is_page || format->name == "json" || format->name == "code";
  if ((linux::is_interrupted() || !stat->failure.empty()) && !shows_trust) {
    say(stat->notices);
    const Error error{
        Code::cannot_measure,
        fmt::format("nothing is written: --format {} cannot show that a profile is incomplete", format->name),
        "run it again, or use --format json", 0};
    return final_exit_code(*stat, report_error(error), *signals);
  }
  if (format->of_one_file) {
    const auto object = output::find_object(made, object_of(options));
    if (!object) return report_error(object.error());
    style->object = *object;
    if (format->name == "order") stat->notices.push_back(output::pages_of_order(made, *style));
  }
  if (options.inlines && format->inlined == output::InlineRepresentation::functions)
    made = output::with_inlined_functions(format->is_page ? output::with_jumped_functions(made) : made);
  if (!others.empty())
    if (std::string line = why::mark_differences(made, std::move(others)); !line.empty()) {
      made.stat.notices.push_back(line);
      stat->notices.push_back(std::move(line));
    }
  const bool has_parts = !made.parts.empty();
  std::string text = has_parts ? "" : format->write(made, *style);
  auto covered = format->is_coverage
                     ? output::check_coverage(made, style->coverage, options.fail_under, object_of(options))
                     : Result<output::CoverageCheck>{};
  if (covered && !covered->notes.empty()) say(covered->notes);
  if (format->is_coverage)
    for (const std::string& path : output::newer_sources(made, *style))
      stat->notices.push_back(path + output::newer_source);
  const auto source = options.annotate.empty() ? Result<std::string>("")
                                               : annotation(output::in_samples(made), options.annotate, *style);
  if (source && !source->empty()) text += "\n" + *source;
  const auto written = !covered    ? Result<void>{}
                       : has_parts ? write_parts(made, *format, *style, options.output, *output)
                                   : output->write(text);
  if (!format->is_for_people) {
    for (std::string& line : output::sampling_lines(made)) stat->notices.push_back(std::move(line));
    for (std::string& line : output::unread_lines(made)) stat->notices.push_back(std::move(line));
    if (std::string line = output::runs_line(made); !line.empty()) stat->notices.push_back(std::move(line));
    if (stat->signal && !stat->incomplete)
      stat->notices.push_back("the program was killed by " + signal_name(*stat->signal) + ": the profile ends there");
    for (const result::Event& event : made.stat.events)
      if (const Count& count = event.total.count; count.trust == Trust::partial && !shows_trust)
        stat->notices.push_back("trust of " + event.total.name.text() + ": partial: " + count.reason);
  }
  // Printed despite --quiet: without them, the numbers could be misunderstood.
  if (!stat->notices.empty() && (may_speak || is_apart || stat->incomplete)) say(stat->notices);
  int code_of_tally = exit_ok;
  if (!written) code_of_tally = report_error(written.error());
  if (code_of_tally != exit_ok && !output->is_standard_error())
    (void)linux::Output::standard_error().write(output::profile_formats().front().write(made, *style));
  if (!source) code_of_tally = report_error(source.error());
  if (!covered) code_of_tally = report_error(covered.error());
  if (covered && !covered->passes) code_of_tally = exit_no;
  return final_exit_code(*stat, code_of_tally, *signals);
}

}  // namespace

void describe_profile(Page& page) {
  static ProfileOptions unused;
  describe_profile_options(page, unused);
}

int run_profile(const std::vector<std::string>& arguments) {
  ProfileOptions options;
  Page app;
  describe_profile_options(app, options);
  if (const auto code = app.read(arguments)) return *code;
  if (options.roofline && options.model.model.empty()) options.model.model = "host";
  if (auto simulated = options.model.choose(); !simulated) return report_error(simulated.error());
  const bool attached = !options.processes.empty();
  auto command = command_of(app, attached || options.everywhere, "tally profile -- ls -l");
  if (!command) return report_error(command.error());
  options.order.target.command = std::move(*command);
  if (options.timeout_ms != 0) {
    if (!options.order.target.command.empty() || !(attached || options.everywhere))
      return report_error({Code::bad_usage, "--timeout needs -p or -a, without a program",
                           "for a program: tally profile -- timeout -k 5 5 ./prog", 0});
    options.order.profile()->timeout = std::chrono::milliseconds(options.timeout_ms);
  }
  auto processes = ids_of(options.processes, "process");
  if (!processes) return report_error(processes.error());
  options.order.target.attachment.processes = std::move(*processes);
  if (options.everywhere) {
    if (attached)
      return report_error({Code::bad_usage, "-a and -p cannot be used together", "use only one of them", 0});
    auto processors = linux::processors("");
    if (!processors) return report_error(processors.error());
    options.order.target.attachment.processors = std::move(*processors);
  }
  return profile(options);
}

}  // namespace tally::cli
