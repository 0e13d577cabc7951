// tally-callgrind: the options of `tally callgrind`, the profile, and the command under the name `valgrind`, for
// programs that start valgrind themselves.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "programs/callgrind/valgrind_files.hpp"
#include "programs/callgrind/valgrind_options.hpp"
#include "programs/callgrind/valgrind_simulation.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/counting/profile/resolve_profile.hpp"
#include "tally/hardware/event/list.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/program_main.hpp"
#include "tally/tools/launch/launch.hpp"

namespace tally::callgrind {
namespace {

using namespace launch;

using Tool = ValgrindOptions::Tool;

constexpr const char* callgrind_footer =
    "Options have the form --NAME=VALUE. VALGRIND_OPTS in the environment has more of them. Options that tally does "
    "not support are named in a warning; those that would change counts are errors. Options of valgrind for debuggers, "
    "memory checks and translation are accepted.\n"
    "\n"
    "Counts are exact and those of `tally profile --calls`: a REP string instruction is one instruction, and the "
    "dynamic linker's code runs as it does natively. With --cache-sim or --branch-sim the file has no calls. "
    "--toggle-collect and client requests divide counts and misses.\n"
    "\n"
    "Exit code: that of the program. If a signal ends the program, it ends tally, too.\n"
    "\n"
    "Examples:\n"
    "  tally callgrind ./prog\n"
    "  tally callgrind --toggle-collect='parse*' ./prog\n"
    "  tally callgrind --cache-sim=yes --D1=32768,8,64 --LL=8388608,16,64 ./prog\n"
    "  tally callgrind --tool=cachegrind ./prog\n"
    "  # For a program that starts valgrind itself\n"
    "  PATH=/usr/libexec/tally:$PATH make bench\n";

// The words of VALGRIND_OPTS, then the arguments.
std::vector<std::string> all_words(const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  if (const char* const more = secure_getenv("VALGRIND_OPTS"))
    for (std::string& word : split(more, ' '))
      if (!word.empty()) words.push_back(std::move(word));
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Result<void> check(const ValgrindOptions& options) {
  if (options.tool == Tool::memcheck)
    return fail(Code::bad_usage, "tally has callgrind and cachegrind, but not memcheck and valgrind's other tools",
                "add --tool=callgrind, or use valgrind");
  if (options.command.empty()) return fail(Code::bad_usage, "missing PROGRAM", "for example: tally callgrind ./prog");
  return check_file_names(options);
}

/// Without a simulation, --toggle-collect is applied to the counts of calls afterwards: see write_valgrind_files().
backend::ProfileParts parts_of(const ValgrindOptions& options) {
  using AtStart = backend::ProfileParts::AtStart;
  const auto state = [](bool is_on) { return is_on ? AtStart::on : AtStart::off; };
  backend::ProfileParts parts;
  parts.instrumentation = state(options.instruments_at_start.value_or(true));
  const bool is_later = follows_calls(options) && !options.toggles.empty();
  parts.collection = state(is_later || options.collects_at_start.value_or(options.toggles.empty()));
  if (!is_later) parts.toggles = options.toggles;
  return parts;
}

/// Reports an error of the options. valgrind ends with 1 then, and tally with 2.
int refuse(const Error& error, bool is_valgrind) {
  const int code = report_error(error);
  return is_valgrind && code == exit_bad_usage ? exit_no : code;
}

int profile(const ValgrindOptions& options, bool is_valgrind) {
  if (auto fits = check(options); !fits) return refuse(fits.error(), is_valgrind);
  auto simulation = simulation_of(options);
  if (!simulation) return refuse(simulation.error(), is_valgrind);
  backend::Order order;
  backend::Order::Profile profile;
  order.target.command = options.command;
  profile.calls = follows_calls(options);
  for (const auto* const names : {&options.toggles, &options.skipped_functions})
    profile.entered.insert(profile.entered.end(), names->begin(), names->end());
  profile.entered_files = options.skipped_objects;
  order.conditions.as_valgrind = true;
  if (divides_parts(options)) profile.parts = parts_of(options);
  order.instrument = std::move(profile);
  auto events = event::parse_lists({join(events_of(options), ",")}, {}, event::Mode::user);
  if (!events) return report_error(events.error());
  order.events = *std::move(events);
  const linux::HostMachine machine = linux::read_host_machine();
  auto choice = backend::choose("engine", order, machine, *simulation);
  if (!choice) return report_error(choice.error());
  if (const auto there = check_launch(order); !there) return report_error(there.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  result::CodeCounts code;
  auto stat = measure::profile(*choice->backend, order, code, *signals);
  const linux::Finishing finishing(*signals);
  if (!stat) return report_error(stat.error());
  const result::Profile made = profile::resolve(std::move(code), *stat, {.of_rows = true});
  const auto written = write_valgrind_files(made, options, *simulation);
  const int result = final_exit_code(*stat, written ? exit_ok : report_error(written.error()), *signals);
  if (stat->signal && result == stat->exit_code) linux::die_of(*stat->signal);
  return result;
}

void describe_callgrind(Page& page) {
  static std::string value;
  static bool flag = false;
  page.head("Profile a program with the options, files and messages of callgrind or cachegrind.",
            "tally callgrind [options] PROGRAM [arguments]");
  page.prefix_command();
  for (const ValgrindOption& option : valgrind_options()) {
    if (option.use != OptionUse::used || option.name == "help" || option.name == "simulate-cache") continue;
    const std::string text(option.text);
    std::string names = fmt::format("--{}", option.name);
    if (option.name == "quiet" || option.name == "verbose") names = fmt::format("-{},{}", option.name[0], names);
    if (option.value.empty()) {
      page.add_flag(names, flag, text);
      continue;
    }
    Option added = page.add_option(names, value, text).value_name(std::string(option.value));
    if (option.value == "yes|no") added.words({"yes", "no"});
  }
  page.footer(callgrind_footer);
}

int run(const std::vector<std::string>& arguments, Tool tool, bool is_valgrind) {
  ValgrindOptions defaults;
  defaults.tool = tool;
  const auto options = parse_valgrind_options(all_words(arguments), std::move(defaults));
  if (!options) return refuse(options.error(), is_valgrind);
  if (options->wants_version) return print(fmt::format("valgrind-3.19.0.tally-{}\n", version()));
  if (!options->wants_help) return profile(*options, is_valgrind);
  Page page;
  describe_callgrind(page);
  return print(page.text());
}

// The text of `tally help callgrind`.
int print_whole_help() {
  Page page;
  describe_callgrind(page);
  return print(page.whole_text());
}

int run_callgrind(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"--help-all"}) return print_whole_help();
  return run(arguments, Tool::callgrind, false);
}

// valgrind's default tool is memcheck, and its exit code for wrong usage 1.
int run_valgrind(const std::vector<std::string>& arguments) { return run(arguments, Tool::memcheck, true); }

}  // namespace
}  // namespace tally::callgrind

int main(int argc, char** argv) {
  using namespace tally::callgrind;
  constexpr tally::command::Program own{"callgrind", describe_callgrind, run_callgrind};
  constexpr tally::command::Program front{"valgrind", describe_callgrind, run_valgrind};
  const std::string_view name = argc > 0 ? argv[0] : "";
  return tally::command::run_program(name.substr(name.rfind('/') + 1) == front.name ? front : own, argc, argv);
}
