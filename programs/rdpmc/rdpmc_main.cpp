// tally-rdpmc: the options of `tally rdpmc`, and its output.
#include <fmt/format.h>

#include <algorithm>

#include "programs/rdpmc/rdpmc.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::rdpmc {
namespace {

using namespace command;

struct RdpmcOptions {
  std::string word;
  std::vector<std::string> events;
  std::string root = "/";
};

// Every vendor's processors can count these at once, and have a counter left.
constexpr const char* rdpmc_events = "instructions,cycles,branches";

constexpr const char* rdpmc_footer =
    R"(To read counters with the rdpmc instruction, without a library or a driver, a program needs two things: permission from
the kernel, and counters that are set up.

  on      permits rdpmc for every program, opens the events on every CPU with
          priority over other users, and prints which value of ECX reads which
          event. A background process holds the counters.
  status  prints this table for the current counters.
  off     ends the background process, which closes the counters and restores
          the kernel's setting.

The setting is also restored if the background process is ended by a signal. After SIGKILL, the next on, status or off
restores it. tally writes no processor registers: the kernel assigns the counters, and other programs use the rest.

A counter counts everything that its CPU executes: keep your program on one CPU (taskset -c 1 PROGRAM), read the counter
twice, and subtract modulo 2 to the power of its bits. A counter starts at a value chosen by the kernel, restarts after
half of its range, and may be moved when others use the PMU. CPUs that come online later have no counters. While this is
on, every user of the machine can read these counts, including those of other users' programs.

x86 only: on arm64 the kernel lets a program read only the counters of its own events. on and off need root.

Exit code: 0 done, or status: counters are held; 1 status: no counters are held; 2 bad usage; 125 not possible here, such as on without a
PMU.

Examples:
  sudo tally rdpmc on
  sudo tally rdpmc on -e instructions,cycles:uk,cpu/event=0xd1,umask=0x20/
  tally rdpmc status
  sudo tally rdpmc off
)";

void describe(Page& page, RdpmcOptions& options) {
  page.head("Let every program read hardware counters with the rdpmc instruction.",
            "tally rdpmc on|off|status [options]");
  page.add_option("ACTION", options.word, "on, off or status, see below");
  page.add_option("-e,--event", options.events,
                  fmt::format("with on: count these events, as for tally stat (default: {})", rdpmc_events))
      .value_name("LIST");
  page.add_option("--root", options.root, "the directory that contains sys/ and run/").value_name("FOLDER").hidden();
  page.footer(rdpmc_footer);
}

std::string rdpmc_table(const std::vector<Row>& rows) {
  std::size_t width = std::string_view("event").size();
  for (const Row& row : rows) width = std::max(width, display_width(row.event));
  std::string text = fmt::format(" {:<10}  {:<{}}  bits  processors\n", "ECX", "event", width);
  for (const Row& row : rows) {
    const std::string place = row.place ? fmt::format("{:#010x}", row.place->selector) : "none now";
    const std::string bits = row.place ? fmt::format("{}", row.place->width) : "-";
    text += fmt::format(" {:<10}  {:<{}}  {:>4}  {}\n", place, printable(row.event), width, bits, row.processors);
  }
  return text;
}

std::string switch_text(const Switch& one) {
  const auto meaning = [](std::int64_t value) {
    switch (value) {
      case 0: return "no program can execute rdpmc";
      case 1: return "only programs that opened a counter can execute rdpmc (the kernel's default)";
      default: return "every program can execute rdpmc";
    }
  };
  if (!one.value) return fmt::format(" {}: only root can read the setting\n", one.pmu);
  return fmt::format(" {}: the setting is {}, {}\n", one.pmu, *one.value, meaning(*one.value));
}

std::string switches_text(const RdpmcStatus& standing) {
  std::string text;
  for (const Switch& one : standing.switches) text += switch_text(one);
  return text;
}

std::string text_of(const RdpmcStatus& standing) {
  if (standing.held) {
    const auto is_off = [](const Switch& one) { return one.value.value_or(2) < 2; };
    const bool is_changed = std::any_of(standing.switches.begin(), standing.switches.end(), is_off);
    const std::string heading = is_changed ? "The current setting was not made by tally:\n" + switches_text(standing)
                                           : "Every program can execute rdpmc. ";
    return fmt::format("{}Process {} holds the counters; `tally rdpmc off` ends it.\n\n{}", heading,
                       standing.held->holder.number, rdpmc_table(standing.held->rows));
  }
  const std::string heading = standing.left
                                  ? fmt::format(
                                        "Process {}, which held the counters, has ended without restoring the "
                                        "setting: run `sudo tally rdpmc off`.\n",
                                        standing.left->holder.number)
                                  : "tally holds no counters for rdpmc.\n";
  if (standing.switches.empty()) return fmt::format("{} {}\n `tally doctor` shows why\n", heading, no_counters);
  return heading + switches_text(standing);
}

constexpr const char* usage_of_counters =
    R"(
A counter counts everything that its CPU executes: keep your program on one CPU (taskset -c 1 PROGRAM), read the counter
twice, and subtract modulo 2 to the power of its bits. It may be moved: `tally rdpmc status` prints its current number.
)";

Result<RdpmcStatus> run_action(const RdpmcOptions& options) {
  if (options.word != "on" && !options.events.empty()) {
    return fail(Code::bad_usage, "-e needs the action on", "tally rdpmc on -e LIST");
  }
  if (options.word == "off") return off(options.root);
  if (options.word == "status") return status(options.root);
  if (options.word == "on") {
    event::Sources sources;
    sources.root = options.root;
    const auto events =
        event::parse_lists(options.events.empty() ? std::vector<std::string>{rdpmc_events} : options.events, sources);
    if (!events) return fail(events.error());
    return on(*events, options.root);
  }
  const std::string what = options.word.empty() ? "missing argument: on, off or status"
                                                : fmt::format("unknown word '{}'", printable(options.word));
  return fail(Code::bad_usage, what, "tally rdpmc on, tally rdpmc off, or tally rdpmc status");
}

void describe_rdpmc(Page& page) {
  static RdpmcOptions unused;
  describe(page, unused);
}

int run_rdpmc(const std::vector<std::string>& arguments) {
  RdpmcOptions options;
  Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  const auto standing = run_action(options);
  if (!standing) return report_error(standing.error());
  if (!standing->notices.empty()) say(standing->notices);
  const int printed = print(text_of(*standing) + (options.word == "on" ? usage_of_counters : ""));
  if (printed != exit_ok || options.word != "status") return printed;
  return standing->held ? exit_ok : exit_no;
}

}  // namespace
}  // namespace tally::rdpmc

int main(int argc, char** argv) {
  constexpr tally::command::Program program{"rdpmc", tally::rdpmc::describe_rdpmc, tally::rdpmc::run_rdpmc};
  return tally::command::run_program(program, argc, argv);
}
