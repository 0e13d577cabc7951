#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tally/backend/choose/choose.hpp"
#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/window_rows.hpp"
#include "tally/event/list.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/process/program.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/measure/stat.hpp"
#include "tally/report/windows.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> event_lists, every, by;
  std::string backend = "auto", format, output, processes;
  bool quiet = false;
  measure::StatOptions stat;
};

constexpr const char* examples =
    "Every thread has windows of its own; the end of a thread cuts its last one. Rows of a thread come in their "
    "order.\n"
    "\n"
    "Examples:\n"
    "  tally sample --every 50000 -o windows.csv -- ./prog\n"
    "  tally sample -e instructions,loads,stores,branches --every 10000 --format jsonl -o windows.jsonl -- ./prog\n"
    "  tally sample --every 1000 --by branches-taken -- ./prog\n"
    "  tally sample --every 1 --by page-faults -- ./prog\n"
    "  tally sample -e task-clock,page-faults --every 1ms -- ./prog\n"
    "  tally sample --every 50000 --every 1000 --by instructions --by calls -- ./prog\n";

void repeated(CLI::Option* option, const char* text) {
  option->option_text(text)->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
}

std::string format_names() {
  std::vector<std::string> names;
  for (const report::WindowFormat& one : report::window_formats()) names.emplace_back(one.name);
  return join(names, ", ");
}

void describe(Page& app, Options& options) {
  app.head("A row of counts for each window of so many instructions, or other events, of each thread.",
           "tally sample [options] --every N [--by EVENT] [--] PROGRAM [arguments]");
  app.prefix_command();
  repeated(app.add_option("-e,--event", options.event_lists,
                          "what to count in each window: names or codes separated by commas; may be repeated"),
           "EVENTS");
  repeated(
      app.add_option("--every", options.every,
                     "a window has so many events: 50000, 50k, 2M, or so much time on a processor: 1ms, 100us; may "
                     "be repeated, each with its --by: the first that is full ends the window"),
      "N");
  repeated(
      app.add_option("--by", options.by,
                     "which events --every counts (instructions; task-clock for a time): under the engine "
                     "instructions, branches, loads, stores, with a PMU any, and the kernel's own on every machine"),
      "EVENT");
  app.add_flag("--wait-all", options.stat.wait_all,
               "wait for every process that the program leaves behind, and count it");
  app.add_flag("--repeatable", options.stat.repeatable,
               "no address randomisation, fixed hash seeds, no rseq: what depends on no time, pid or file repeats");
  app.add_option("--pin", options.stat.processor, "let the program run on processor CPU only, as `taskset -c` does")
      ->option_text("CPU")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "-p,--pid", options.processes,
         "instead of a program: processes that run already, with what they start from now on, until they end or "
         "Ctrl-C; with a PMU, and by the kernel's own events")
      ->option_text("PIDS");
  app.add_option("--backend", options.backend, "who counts: auto (default), sim, perf")->option_text("BACKEND");
  app.add_option("--format", options.format,
                 "table (default without -o), csv (with -o), jsonl, hpctool, binary (for tally export), chrome-trace")
      ->option_text("FORMAT");
  app.add_option("-o,--output", options.output, "write the rows to this file; else they go to standard error")
      ->option_text("FILE");
  app.add_flag("-q,--quiet", options.quiet, "no word about who counts, and why");
  app.add_option("--block-size", options.stat.engine.block_size, "instructions in a block of the engine")
      ->check(CLI::Range(0, 1'000'000))
      ->group("");
  app.add_option("--cache-limit", options.stat.engine.cache_limit,
                 "blocks that the engine keeps before it throws all away")
      ->check(CLI::Range(0, 1'000'000))
      ->group("");
  app.add_option("--hot-from", options.stat.engine.hot_from, "executions from which on the engine makes a block again")
      ->check(CLI::Range(0, 1'000'000'000))
      ->group("");
  app.footer(examples);
}

// "1ms" as nanoseconds; nothing for what has no unit of time.
std::optional<std::string> nanoseconds_of(std::string_view text) {
  for (const auto& [unit, zeros] : {std::pair{"ns", ""}, {"us", "000"}, {"ms", "000000"}, {"s", "000000000"}})
    if (text.ends_with(unit)) return std::string(text.substr(0, text.size() - std::string_view(unit).size())) + zeros;
  return std::nullopt;
}

bool is_clock(const event::Event& event) {
  return event.id == event::Id::task_clock || event.id == event::Id::cpu_clock;
}

Result<std::uint64_t> count_of(const std::string& text) {
  std::string_view digits = text;
  std::uint64_t unit = 1;
  if (!digits.empty()) {
    switch (digits.back()) {
      case 'k': unit = 1'000; break;
      case 'M': unit = 1'000'000; break;
      case 'G': unit = 1'000'000'000; break;
      default: break;
    }
    if (unit > 1) digits.remove_suffix(1);
  }
  constexpr std::int64_t most = std::int64_t{1} << 50;
  const auto number = parse_integer(digits);
  if (number && *number >= 1 && *number <= most / static_cast<std::int64_t>(unit))
    return static_cast<std::uint64_t>(*number) * unit;
  return fail(Code::bad_usage, fmt::format("--every {} is not a number of events", printable(text)),
              "it takes 1 to 2^50, such as 50000, 50k or 2M, or a time such as 1ms");
}

Result<backend::Windows::Trigger> trigger_of(const std::string& every, std::optional<std::string> by) {
  const auto time = nanoseconds_of(every);
  const auto number = count_of(time.value_or(every));
  if (!number) return fail(number.error());
  const std::string name = by.value_or(time ? "task-clock" : "instructions");
  auto event = event::parse_lists({name}, {}, event::Mode::user);
  if (!event) return fail(event.error());
  if (event->size() != 1)
    return fail(Code::bad_usage, fmt::format("--by {} is more than one event", printable(name)),
                "each --every has one");
  if (time && !is_clock(event->front()))
    return fail(Code::bad_usage,
                fmt::format("--every {} is a time, and {} counts none", printable(every), printable(name)),
                "task-clock and cpu-clock count time");
  // kernel/events/core.c, perf_swevent_init_hrtimer: a shorter period is taken for this one.
  constexpr std::uint64_t least_ns = 10'000;
  if (is_clock(event->front()) && *number < least_ns)
    return fail(Code::bad_usage, fmt::format("--every {}: the kernel's timers do not fire so often", printable(every)),
                "10us is the least");
  return backend::Windows::Trigger{event->front(), *number};
}

Result<void> choose_windows(Options& options) {
  if (options.every.empty())
    return fail(Code::bad_usage, "--every is missing: how many instructions a window has",
                "for example: tally sample --every 50000 -- ./prog");
  if (options.by.size() > options.every.size() ||
      (options.every.size() > 1 && options.by.size() < options.every.size()))
    return fail(Code::bad_usage,
                fmt::format("{} --every and {} --by: each --every needs the event that it counts", options.every.size(),
                            options.by.size()),
                "for example: --every 50000 --by instructions --every 1000 --by calls");
  if (options.every.size() > backend::window_trigger_limit)
    return fail(Code::bad_usage, fmt::format("more than {} --every", backend::window_trigger_limit),
                "take another run for the others");
  for (std::size_t i = 0; i < options.every.size(); ++i) {
    auto trigger =
        trigger_of(options.every[i], i < options.by.size() ? std::optional<std::string>(options.by[i]) : std::nullopt);
    if (!trigger) return fail(trigger.error());
    options.stat.windows.triggers.push_back(*std::move(trigger));
  }
  return {};
}

const report::WindowFormat* format_of(const Options& options) {
  const std::string wanted = !options.format.empty() ? options.format : options.output.empty() ? "table" : "csv";
  for (const report::WindowFormat& one : report::window_formats())
    if (one.name == wanted) return &one;
  return nullptr;
}

Result<std::vector<std::int32_t>> processes_of(const std::string& list) {
  std::vector<std::int32_t> processes;
  for (const std::string& one : split(list, ',')) {
    const auto number = parse_integer(one);
    if (!number || *number < 1 || *number > 0x7fffffff)
      return fail(Code::bad_usage, fmt::format("-p {}: '{}' is no process", printable(list), printable(one)),
                  "it takes numbers with commas between them");
    processes.push_back(static_cast<std::int32_t>(*number));
  }
  return processes;
}

Result<std::vector<std::string>> command_of(const Page& app, bool attached) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().size() > 1 && words.front().starts_with("-")) {
    return fail(Code::bad_usage, fmt::format("unknown option '{}'", printable(words.front())),
                app.options_hint(words.front()));
  }
  if (attached && words.empty()) return words;
  if (attached)
    return fail(Code::bad_usage, "-p and a program: give one of the two", "-p counts until its processes end");
  if (words.empty())
    return fail(Code::bad_usage, "there is no program to run", "for example: tally sample --every 50000 -- ls -l");
  return words;
}

bool is_kernels_own(const backend::Windows::Trigger& trigger) {
  return event::definition(trigger.event.id).kind == event::Kind::software;
}

// Who can count the events, and end windows by the triggers.
Result<backend::Choice> choose_backend(const Options& options, const linux::Machine& machine) {
  backend::Needs needs;
  needs.attachment = options.stat.attachment.any();
  const auto& triggers = options.stat.windows.triggers;
  needs.windows = std::all_of(triggers.begin(), triggers.end(), is_kernels_own) ? backend::Needs::Windows::by_kernel
                                                                                : backend::Needs::Windows::by_others;
  std::vector<event::Event> events = options.stat.events;
  for (const auto& trigger : triggers)
    if (std::none_of(events.begin(), events.end(), [&](const event::Event& one) {
          return one.id == trigger.event.id && one.mode == trigger.event.mode;
        }))
      events.push_back(trigger.event);
  return backend::choose(options.backend, events, machine, needs);
}

int sample(Options& options) {
  const report::WindowFormat* const format = format_of(options);
  if (format == nullptr) {
    return report_error({Code::bad_usage, fmt::format("unknown format '{}'", printable(options.format)),
                         "the formats are: " + format_names(), 0});
  }
  const linux::Machine machine = linux::look_at_machine();
  auto choice = choose_backend(options, machine);
  if (!choice) return report_error(choice.error());
  if (!options.stat.command.empty()) {
    const auto program = linux::find_program(options.stat.command.front(), linux::search_path());
    if (!program) return report_error(program.error());
  }
  if (format->fits != nullptr) {
    std::vector<std::string> names;
    for (const event::Event& event : options.stat.events) names.push_back(event::name(event));
    if (const auto fits = format->fits(names); !fits) return report_error(fits.error());
    for (const event::Event& event : options.stat.events)
      if (const auto outlook = choice->backend->window_outlook(event); outlook.trust == Trust::absent)
        return report_error({Code::bad_usage,
                             fmt::format("the format {} has no way to say that {} is absent ({})", format->name,
                                         event::name(event), outlook.reason),
                             "its rows are integers only; the other formats say why there is no number", 0});
  }
  if (format->name == "binary" && options.output.empty())
    return report_error(
        {Code::bad_usage, "a binary file is nothing for standard error", "-o FILE writes it to that file", 0});
  auto output = options.output.empty()  ? Result<linux::Output>(linux::Output::standard_error())
                : options.output == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                        : linux::Output::open_file(options.output);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  const char* word = std::getenv("TALLY_QUIET");
  const bool is_quiet = options.quiet || (word && *word && std::string_view(word) != "0");
  if (!choice->notices.empty() && !is_quiet && (format->name == "table" || !options.output.empty()))
    say(choice->notices);

  WindowRows rows(*format, std::move(*output));
  std::vector<std::string> absences;
  options.stat.windows.on_begin = [&](const result::WindowsHead& head) {
    for (const result::EventCount& event : head.events)
      if (event.count.trust == Trust::absent)
        absences.push_back(fmt::format("{} is absent: {}", event.name, event.count.reason));
    rows.begin(head);
  };
  options.stat.windows.on_window = [&](const result::Window& window) { rows.row(window); };
  auto stat = measure::stat(*choice->backend, options.stat, *signals);
  const auto written = rows.finish();
  if (!stat) return report_error(stat.error());
  if (format->name != "table") stat->notices.insert(stat->notices.end(), absences.begin(), absences.end());
  if (!stat->notices.empty() && !is_quiet) say(stat->notices);
  int code = written ? stat->exit_code.value_or(exit_cannot_measure) : report_error(written.error());
  signals->settle();
  const bool survived = stat->interrupted_by && !stat->incomplete;
  if (const auto signal = signals->interrupted_by(); signal && !survived) linux::die_of(*signal);
  if (code == 0 && stat->incomplete) code = exit_cannot_measure;
  return code;
}

}  // namespace

void describe_sample(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_sample(const std::vector<std::string>& arguments) {
  Options options;
  Page app;
  describe(app, options);
  if (const auto code = app.read(arguments)) return *code;
  auto command = command_of(app, !options.processes.empty());
  if (!command) return report_error(command.error());
  options.stat.command = std::move(*command);
  if (!options.processes.empty()) {
    auto processes = processes_of(options.processes);
    if (!processes) return report_error(processes.error());
    options.stat.attachment.processes = std::move(*processes);
  }
  if (const auto chosen = choose_windows(options); !chosen) return report_error(chosen.error());
  const auto& triggers = options.stat.windows.triggers;
  const bool by_kernel = std::all_of(triggers.begin(), triggers.end(), is_kernels_own);
  const std::vector<std::string> usual{by_kernel ? "task-clock,page-faults,context-switches,cpu-migrations"
                                                 : "instructions,branches,loads,stores"};
  auto events = event::parse_lists(options.event_lists.empty() ? usual : options.event_lists, {}, event::Mode::user);
  if (!events) return report_error(events.error());
  options.stat.events = std::move(*events);
  return sample(options);
}

}  // namespace tally::cli
