#include <fmt/format.h>

#include <utility>

#include "tally/backend/choose/choose.hpp"
#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/linux/machine.hpp"
#include "tally/linux/output.hpp"
#include "tally/linux/program.hpp"
#include "tally/linux/signals.hpp"
#include "tally/measure/stat.hpp"
#include "tally/report/format.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> event_lists;
  std::string backend = "auto";
  std::string format = "table";
  std::string output;
  report::Detail detail;
  measure::StatOptions stat;
};

constexpr const char* about_events =
    "EVENTS are names as `tally events` lists them (instructions, branches, loads, page-faults), perf's (cs, "
    "LLC-loads),\n"
    "libpfm4's (BR_INST_RETIRED:CONDITIONAL), the kernel's (cpu/event=0xc4,umask=0x1/) or codes (r01c4, 0x4101C4).\n"
    ":u counts user mode (the default), :k the kernel, :uk both; {a,b} is a group. `tally event NAME` explains one.\n"
    "\n";

constexpr const char* examples =
    "Without -o the results go to standard error; the program's own streams and exit code are its own.\n"
    "tally's own exit codes: 125 it could not measure, 126 the program cannot be executed, 127 it was not found,\n"
    "2 bad usage; 128+N: the program was killed by signal N. Ctrl-C is the program's; where it ends the measurement,\n"
    "tally writes what it has and dies of SIGINT. Three within two seconds: it no longer waits for the program.\n"
    "\n"
    "Examples:\n"
    "  tally stat -- bzip2 -k big.tar\n"
    "  tally stat -e instructions,branches -r 10 -- ./prog\n"
    "  tally stat --format json -o result.json -- make -j4\n";

// The options, bound to `options`; what follows them is the command.
void describe(Page& app, Options& options) {
  app.head("Counts of a whole command, each with its trust.", "tally stat [options] [--] PROGRAM [arguments]");
  // Everything from the first word that is no option is the program's, verbatim.
  app.prefix_command();
  app.add_option("-e,--event", options.event_lists,
                 "what to count: names or codes separated by commas; may be repeated")
      ->option_text("EVENTS")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_option("-r,--repeat", options.stat.runs, "run the program N times: median, its interval, min and max")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--keep-going", options.stat.keep_going, "with -r: go on after a run that did not end with exit code 0");
  app.add_flag("--wait-all", options.stat.wait_all,
               "wait for every process that the program leaves behind, and count it");
  app.add_flag("--repeatable", options.stat.repeatable,
               "no address randomisation, fixed hash seeds, no rseq: what depends on no time, pid or file repeats");
  app.add_option("-o,--output", options.output, "write the results to FILE; - is standard output")->option_text("FILE");
  app.add_option("--format", options.format, "table (default) or json")->option_text("FORMAT");
  app.add_flag("--per-process", options.detail.per_process, "each process's own counts as well");
  app.add_flag("--per-thread", options.detail.per_thread, "each thread's own counts as well");
  app.add_option("--backend", options.backend, "who counts: auto (default), perf, sim, none")->option_text("BACKEND");
  app.add_option("--block-size", options.stat.block_size, "instructions in a block of the engine")
      ->check(CLI::Range(0, 1'000'000))
      ->group("");
  app.add_option("--cache-limit", options.stat.cache_limit, "blocks that the engine keeps before it throws all away")
      ->check(CLI::Range(0, 1'000'000))
      ->group("");
  app.footer(std::string(about_events) + examples);
}

Result<std::vector<std::string>> command_of(const Page& app) {
  std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front() == "--") {
    words.erase(words.begin());
  } else if (!words.empty() && words.front().size() > 1 && words.front().starts_with("-")) {
    return fail(Code::bad_usage, fmt::format("unknown option '{}'", printable(words.front())),
                "`tally stat --help` lists the options");
  }
  if (words.empty()) {
    return fail(Code::bad_usage, "there is no program to run", "for example: tally stat -- ls -l");
  }
  return words;
}

Result<const report::Format*> format_of(const std::string& name) {
  std::vector<std::string> names;
  for (const report::Format& format : report::formats()) {
    if (format.name == name) return &format;
    names.emplace_back(format.name);
  }
  return fail(Code::bad_usage, fmt::format("unknown format '{}'", printable(name)),
              "the formats are: " + join(names, ", "));
}

Result<linux::Output> open_output(const std::string& path) {
  if (path.empty()) return linux::Output::standard_error();
  if (path == "-") return linux::Output::standard_output();
  return linux::Output::open_file(path);
}

// Counts, writes, and gives tally's exit code; everything in `options` has been checked.
int count(const Options& options, const report::Format& format) {
  const linux::Machine machine = linux::look_at_machine();
  auto choice = backend::choose(options.backend, options.stat.events, machine);
  if (!choice) return report_error(choice.error());
  // Before anything is said or written: the likeliest mistake is a wrong name.
  if (const auto program = linux::find_program(options.stat.command.front(), linux::search_path()); !program) {
    return report_error(program.error());
  }
  auto output = open_output(options.output);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());

  const bool for_people = format.name == "table";
  // A file for programs holds its notices itself; on standard error they would break it.
  if (!choice->notices.empty() && (for_people || !options.output.empty())) say(choice->notices);
  auto stat = measure::stat(*choice->backend, options.stat, *signals);
  if (!stat) return report_error(stat.error());
  stat->environment = measure::environment(machine);
  if (!for_people) {
    stat->notices.insert(stat->notices.begin(), choice->notices.begin(), choice->notices.end());
  }
  stat->notices.insert(stat->notices.end(), choice->event_notes.begin(), choice->event_notes.end());

  const auto written = output->write(format.write(*stat, options.detail));
  int code = written ? stat->exit_code.value_or(exit_cannot_measure) : report_error(written.error());
  signals->settle();
  // An interrupt that the program survived, to end by itself, was the program's: its exit code says what came of it.
  const bool survived = stat->interrupted_by && !stat->incomplete;
  if (const auto signal = signals->interrupted_by(); signal && !survived) linux::die_of(*signal);
  if (code == 0 && stat->incomplete) code = exit_cannot_measure;
  return code;
}

}  // namespace

void describe_stat(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_stat(const std::vector<std::string>& arguments) {
  Options options;
  Page app;
  describe(app, options);
  if (const auto code = app.read(arguments)) return *code;

  auto command = command_of(app);
  if (!command) return report_error(command.error());
  options.stat.command = std::move(*command);
  options.stat.events = event::default_set();
  if (!options.event_lists.empty()) {
    auto events = event::parse_lists(options.event_lists);
    if (!events) return report_error(events.error());
    options.stat.events = std::move(*events);
  }
  options.stat.processes = options.detail.per_process || options.detail.per_thread;
  const auto format = format_of(options.format);
  if (!format) return report_error(format.error());
  return count(options, **format);
}

}  // namespace tally::cli
