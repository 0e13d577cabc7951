// tally-verify: the options of `tally verify`, the measurement, and its output.
#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "programs/progress/progress.hpp"
#include "programs/verify/counter_noise.hpp"
#include "programs/verify/grade_counts.hpp"
#include "programs/verify/published.hpp"
#include "programs/verify/verify_program.hpp"
#include "programs/verify/write.hpp"
#include "programs/verify_output/verify_format.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/backend/stepper/stepped.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"
#include "tally/tools/verification/stored_verification.hpp"

namespace tally::verify {
namespace {

using namespace command;

struct VerifyOptions {
  bool list = false;
  std::string folder;
  std::vector<std::string> programs;
  workload::Parameters parameters;
  bool quick = false;
  bool all = false;
  bool json = false;
  const output::VerifyFormat* written = nullptr;  // selected by the options
  std::string format, output;
  std::vector<std::string> event_lists;
  std::string backend = "auto";
  std::string model;
  std::string noise;
  int budget_seconds = 20;
  std::vector<std::string> command;
};

constexpr const char* verify_footer =
    "tally runs programs whose exact counts are known, counts them with the PMU or the engine, and grades each event:\n"
    "\n"
    "  exact        equal to the known count in every run\n"
    "  correctable  equal after subtracting what page faults and interrupts add\n"
    "  speculative  depends on the processor's internals: no known count\n"
    "  micro-op     counts micro-ops, more than the program's accesses\n"
    "  unusable     differs without an explanation\n"
    "  absent       cannot be counted here\n"
    "\n"
    "A check that cannot be made is reported as inconclusive, with the reason, and does not count as passed. --write "
    "writes the programs as ELF files for use with other tools, and a README.md with their counts.\n"
    "\n"
    "With a PROGRAM, tally runs it several times and compares two ways to count it: the PMU and the engine or, without "
    "a PMU, a single-stepper and the engine.\n"
    "\n"
    "Exit code: 0 no check failed, 1 a check failed, 2 bad usage, 125 nothing could be counted.\n"
    "\n"
    "Examples:\n"
    "  tally verify --quick\n"
    "  tally verify -e instructions,conditional-branches\n"
    "  tally verify --json -o counters.json\n"
    "  tally verify --write programs -n 500000\n"
    "  tally verify -- /bin/true\n";

void describe(Page& page, VerifyOptions& options) {
  page.head("Check whether counts on this machine can be trusted, with programs whose exact counts are known.",
            "tally verify [options] [-- PROGRAM [arguments]]");
  // The arguments after the options are a program of the user.
  page.prefix_command();
  page.add_flag("--quick", options.quick, "run fewer and shorter programs; takes a few seconds");
  page.add_option("-e,--event", options.event_lists, "grade only these events, separated by commas (default: all)")
      .value_name("EVENTS");
  add_backend_option(
      page, options.backend,
      "count with this backend: " + join(backend::backend_names(), ", ") + "; auto uses the PMU if there is one")
      .value_name("NAME");
  page.add_option("--model", options.model, "simulate this machine for cycles and misses (default: host, this machine)")
      .value_name("NAME");
  page.add_option("--noise", options.noise,
                  "add noise to the engine's counts: seed=1,irq=0.25,fault=1,skid=hpctool; irq: interrupts per million "
                  "instructions, fault: instructions added per page fault or interrupt, skid: windows end late")
      .value_name("NOISE")
      .in(command::models_group);
  page.add_flag("--all", options.all, "show every check");
  const auto formats = output::common(output::verify_formats());
  add_format_option(page, options.format, formats, output::format_help(formats, "table"));
  page.add_flag("--json", options.json, "the same as --format json");
  add_output_option(page, options.output);
  add_label_option(page);
  add_host_option(page);
  page.add_option("--budget", options.budget_seconds, "time limit for single-stepping PROGRAM (default: 20)")
      .value_name("SECONDS")
      .check(whole_number(1, 86'400));
  page.add_flag("--list", options.list, "list the programs and their counts, and exit");
  page.add_option("--write", options.folder, "write the programs to this directory, and exit").value_name("DIR");
  page.add_option("--program", options.programs, "with --write: only this program of --list").value_name("NAME");
  page.add_option("-n,--iterations", options.parameters.n,
                  "with --write: iterations of the loop, or as described by --list")
      .value_name("N");
  page.add_option("-k,--inner", options.parameters.k, "with --write: the parameter k of the programs that have one")
      .value_name("K");
  page.add_option("--bytes", options.parameters.bytes, "with --write: array size of the program stride")
      .value_name("BYTES");
  page.add_option("--stride", options.parameters.stride,
                  "with --write: distance between accesses of the program stride")
      .value_name("BYTES");
  page.add_option("--seed", options.parameters.seed, "with --write: random seed of the program branches_random")
      .value_name("SEED");
  page.footer(verify_footer);
}

std::string program_list() {
  output::Grid grid({{"program"}, {"takes"}, output::prose_column("description, instructions")});
  for (const workload::Workload& workload : workload::all()) {
    grid.add({std::string(workload.name), std::string(workload.parameters), std::string(workload.what)});
  }
  return grid.text(linux::terminal_columns(linux::Stream::output));
}

int write_to_directory(const VerifyOptions& options) {
  const auto trials = chosen({options.programs, options.parameters});
  if (!trials) return report_error(trials.error());
  const auto written = write_programs(options.folder, *trials);
  if (!written) return report_error(written.error());
  return print(fmt::format("wrote {} to {}; {}/README.md describes them\n",
                           plural(static_cast<std::int64_t>(trials->size()), "program", "programs"),
                           printable(options.folder), printable(options.folder)));
}

Result<std::vector<event::Event>> events_of(const VerifyOptions& options) {
  if (options.event_lists.empty()) return all_events();
  auto events = event::parse_lists(options.event_lists);
  if (!events) return events;
  for (const event::Event& event : *events) {
    if (is_graded(event)) continue;
    std::vector<std::string> names;
    for (const event::Event& graded : all_events()) names.push_back(graded.asked);
    return fail(Code::bad_usage, fmt::format("tally verify does not grade '{}'", printable(event.asked)),
                "it grades, in user mode: " + join(names, ", "));
  }
  return events;
}

// Opens the output file before anything is measured; nothing: standard output.
Result<std::optional<linux::Output>> destination_of(const VerifyOptions& options) {
  std::optional<linux::Output> output;
  if (options.output.empty() || options.output == "-") return output;
  auto opened = linux::Output::open_file(options.output);
  if (!opened) return fail(opened.error());
  output.emplace(*std::move(opened));
  return output;
}

// Writes the result. Returns the exit code that answers whether the checks passed.
int finish(const result::Verify& result, const VerifyOptions& options, std::optional<linux::Output>& output,
           linux::Signals& signals) {
  const std::size_t terminal = output ? 0 : linux::terminal_columns(linux::Stream::output);
  const std::string text = options.written->write(result, options.all, terminal);
  if (output) {
    if (const auto written = output->write(text); !written) return report_error(written.error());
    say({output::verify_answer(result)});
  } else if (const int printed = print(text); printed != exit_ok) {
    return printed;
  }
  signals.settle();
  if (const auto signal = signals.interrupted_by()) linux::die_of(*signal);
  switch (verdict(result)) {
    case result::Verdict::pass: return exit_ok;
    case result::Verdict::fail: return exit_no;
    case result::Verdict::inconclusive: break;
  }
  return exit_cannot_measure;
}

int verify_counts(const VerifyOptions& options) {
  Options request;
  request.quick = options.quick;
  auto events = events_of(options);
  if (!events) return report_error(events.error());
  request.events = *std::move(events);
  const linux::HostMachine machine = linux::read_host_machine();
  std::optional<backend::Simulation> simulation;
  if (!options.model.empty()) {
    auto model = backend::machine_of(options.model);
    if (!model) return report_error(model.error());
    simulation = backend::Simulation{*std::move(model)};
  }
  auto choice = backend::choose(options.backend, {.events = request.events}, machine, simulation);
  if (!choice) return report_error(choice.error());
  // The engine causes page faults of its own. Do not grade them as bad unless the user asked for them.
  if (options.event_lists.empty()) {
    std::erase_if(request.events, [&choice](const event::Event& event) {
      return event.id == event::Id::user_page_faults && choice->backend->outlook(event).trust != Trust::counted;
    });
  }
  std::optional<Noise> noise;
  if (!options.noise.empty()) {
    const auto parsed = parse_noise(options.noise);
    if (!parsed) return report_error(parsed.error());
    if (!choice->backend->traits().is_engine)
      return report_error(
          {Code::bad_usage, "--noise adds noise to the engine's counts only", "add `--backend engine`"});
    noise = *parsed;
  }
  auto output = destination_of(options);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  Progress progress("verify");
  request.progress = [&progress](const std::string& what, double share) { progress.show(share, what); };
  std::optional<Noisy> noisy;
  if (noise) noisy.emplace(*choice->backend, *noise);
  auto result = tally::verify::verify(noisy ? *noisy : *choice->backend, request, *signals);
  progress.clear();
  if (!result) return report_error(result.error());
  if (noise) result->noise = name(*noise);
  result->environment = measure::environment(machine);
  result->environment.provenance = provenance();
  hide_host(result->environment, *options.written);
  if (choice->backend->traits().has_pmu_counters) {
    const event::pfm::Pmu* pmu = event::own_pmu({});
    if (const Published* line = pmu ? published_of(pmu->name) : nullptr) {
      compare(result->events, *line);
      result->notices.push_back(fmt::format("published of {}: {}", line->name, line->source));
    }
  }
  // A verification of some events or of shorter programs does not replace a complete one.
  if (options.event_lists.empty() && !options.quick && !noise && !result->incomplete)
    store_verification(result->backend, output::verify_json(*result));
  result->notices.insert(result->notices.begin(), choice->notices.begin(), choice->notices.end());
  return finish(*result, options, *output, *signals);
}

// What the engine is compared with: the PMU, else the single-stepper.
struct SecondCounter {
  std::unique_ptr<backend::Backend> backend;
  bool steps = false;
};

Result<SecondCounter> choose_second_counter(const std::vector<event::Event>& events,
                                            const linux::HostMachine& machine) {
  SecondCounter other;
  if (auto choice = backend::choose("perf", {.events = events}, machine)) {
    other.backend = std::move(choice->backend);
    return other;
  }
  auto stepper = backend::choose("stepper", {.events = events}, machine);
  if (!stepper) return fail(stepper.error());
  other.backend = std::move(stepper->backend);
  other.steps = true;
  return other;
}

// Single-stepping is slow: fails before it starts if it would exceed the budget.
Result<void> check_budget(backend::Backend& engine, const ProgramOptions& request, int budget_seconds,
                          linux::Signals& signals) {
  backend::Order order;
  order.target.command = request.command;
  order.conditions = request.conditions;
  order.conditions.signals = &signals;
  order.events = *event::parse_lists({"instructions,string-elements"});  // each iteration of a REP is a step
  request.input.rewind();
  const auto outcome = engine.run(order);
  if (!outcome) return fail(outcome.error());
  std::int64_t steps = 0;
  for (const auto& event : outcome->counts) steps += event.count.value.value_or(0);
  const Nanoseconds time = backend::stepper::stepping_time(steps);
  if (time <= std::chrono::seconds(budget_seconds)) return {};
  return fail(
      Code::cannot_measure,
      fmt::format("no PMU is available to compare with, and single-stepping {} instructions and iterations of REP "
                  "takes about {}",
                  thousands(steps), duration_text(time)),
      fmt::format("--budget {} allows it", std::chrono::duration_cast<std::chrono::seconds>(time).count() + 1));
}

int verify_program(const VerifyOptions& options) {
  ProgramOptions request;
  request.command = options.command;
  request.input = linux::Input::read_position();
  auto events = events_of(options);
  if (!events) return report_error(events.error());
  for (event::Event& event : *events) {
    if (is_known(event)) request.events.push_back(std::move(event));
  }
  if (request.events.empty()) {
    return report_error({Code::bad_usage, "none of these events can be compared",
                         "compare instructions, branches of each kind, loads or stores", 0});
  }
  const linux::HostMachine machine = linux::read_host_machine();
  auto engine = backend::choose("engine", {.events = request.events}, machine);
  if (!engine) return report_error(engine.error());
  auto other = choose_second_counter(request.events, machine);
  if (!other) return report_error(other.error());
  request.conditions = shared_conditions(other->steps);
  auto output = destination_of(options);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  if (other->steps) {
    request.other_runs = 1;
    request.conditions.stepping_limit = std::chrono::seconds(options.budget_seconds);
    const auto affordable = check_budget(*engine->backend, request, options.budget_seconds, *signals);
    if (!affordable) return report_error(affordable.error());
  }
  auto result = compare_program(*engine->backend, *other->backend, request, *signals);
  if (!result) return report_error(result.error());
  if (other->steps && std::ranges::any_of(result->compared, [](const auto& event) {
        return event.why.find("did not end within") != event.why.npos;
      }))
    result->notices.push_back(fmt::format("--budget {} gives single-stepping more time", 3 * options.budget_seconds));
  result->environment = measure::environment(machine);
  result->environment.provenance = provenance();
  hide_host(result->environment, *options.written);
  return finish(*result, options, *output, *signals);
}

void describe_verify(Page& page) {
  static VerifyOptions unused;
  describe(page, unused);
}

int run_verify(const std::vector<std::string>& arguments) {
  VerifyOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.list) return print(program_list());
  if (options.json && options.format.empty()) options.format = "json";
  const auto format = output::choose_format(output::verify_formats(), options.format, options.output, "table");
  if (!format) return report_error(format.error());
  options.written = *format;
  if (!options.folder.empty()) return write_to_directory(options);
  if (!options.programs.empty() || options.parameters != workload::Parameters{}) {
    return report_error({Code::bad_usage, "--program, -n, -k, --bytes, --stride and --seed need --write",
                         "tally verify --write programs -n 500000", 0});
  }
  options.command = page.remaining();
  if (!options.command.empty() && options.command.front() == "--") {
    options.command.erase(options.command.begin());
    if (options.command.empty()) {
      return report_error({Code::bad_usage, "missing program after --", "for example: tally verify -- /bin/true", 0});
    }
  } else if (!options.command.empty() && options.command.front().starts_with("-")) {
    return report_error({Code::bad_usage, fmt::format("unknown option '{}'", printable(options.command.front())),
                         page.options_hint(options.command.front()), 0});
  }
  return options.command.empty() ? verify_counts(options) : verify_program(options);
}

}  // namespace
}  // namespace tally::verify

int main(int argc, char** argv) {
  constexpr tally::command::Program verify{"verify", tally::verify::describe_verify, tally::verify::run_verify};
  return tally::command::run_program(verify, argc, argv);
}
