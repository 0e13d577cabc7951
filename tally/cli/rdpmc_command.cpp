#include <fmt/format.h>

#include <algorithm>

#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/tools/tuning/rdpmc/rdpmc.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::string word;
  std::vector<std::string> events;
  std::string root = "/";
};

// What the processors of all makers count at once, with a counter to spare.
constexpr const char* usual_events = "instructions,cycles,branches";

constexpr const char* footer =
    R"(A program that reads counters by the instruction rdpmc, without tally, without a library and without a driver
needs two things: the kernel must let it, and somebody must have set counters up.

  on      sets the kernel's switch to "everybody", opens the events on every
          processor, ahead of all others, and prints which value of ECX reads
          which. A process stays behind that owns the counters.
  status  prints that table as it is now.
  off     ends that process, which closes the counters and puts the switch
          back to what it said before.

The switch is put back as well when that process is ended by a signal. Where it was killed by SIGKILL, the next call of
any of the three puts it back. Nothing is written to the processor by tally: the kernel hands out the counters, and
other programs that count get those that are left.

A counter counts whatever its processor executes, in every program: keep yours on one (taskset -c 1 PROGRAM), read
twice, and subtract modulo 2 to the power of its bits. It begins at a number of the kernel's choice, begins anew after
half of its range, and may be moved when others use the PMU. Processors that are switched on later have none. While this
is on, every user of the machine can read these counts, those of other users' programs among them.

x86 only: on arm64 the kernel shows a program the counters of its own events alone. Changing anything takes root.

Exit code: 0 done, or for status that counters are held; 1 for status that none are; 2 bad usage; 125 where it cannot be
done here.

Examples:
  sudo tally rdpmc on
  sudo tally rdpmc on -e instructions,cycles:uk,cpu/event=0xd1,umask=0x20/
  tally rdpmc status
  sudo tally rdpmc off
)";

void describe(Page& page, Options& options) {
  page.head("Lets every program execute the instruction rdpmc, on counters that the kernel has handed out.",
            "tally rdpmc on|off|status [options]");
  page.add_option("WORD", options.word, "on, off or status");
  page.add_option("-e,--event", options.events,
                  fmt::format("with on: what is counted, as for tally stat; else {}", usual_events))
      .value_name("LIST");
  page.add_option("--root", options.root, "where sys/ and run/ lie").value_name("FOLDER").hidden();
  page.footer(footer);
}

std::string table(const std::vector<rdpmc::Row>& rows) {
  std::size_t width = std::string_view("event").size();
  for (const rdpmc::Row& row : rows) width = std::max(width, display_width(row.event));
  std::string text = fmt::format(" {:<10}  {:<{}}  bits  processors\n", "ECX", "event", width);
  for (const rdpmc::Row& row : rows) {
    const std::string place = row.place ? fmt::format("{:#010x}", row.place->selector) : "none now";
    const std::string bits = row.place ? fmt::format("{}", row.place->width) : "-";
    text += fmt::format(" {:<10}  {:<{}}  {:>4}  {}\n", place, printable(row.event), width, bits, row.processors);
  }
  return text;
}

std::string switch_text(const rdpmc::Switch& one) {
  const auto meaning = [](std::int64_t value) {
    switch (value) {
      case 0: return "no program may execute rdpmc";
      case 1: return "who has opened a counter may execute rdpmc (the kernel's default)";
      default: return "every program may execute rdpmc";
    }
  };
  if (!one.value) return fmt::format(" {}: only root may read the switch\n", one.pmu);
  return fmt::format(" {}: the switch is {}, {}\n", one.pmu, *one.value, meaning(*one.value));
}

std::string switches_text(const rdpmc::Standing& standing) {
  std::string text;
  for (const rdpmc::Switch& one : standing.switches) text += switch_text(one);
  return text;
}

std::string text_of(const rdpmc::Standing& standing) {
  if (standing.held) {
    const auto is_off = [](const rdpmc::Switch& one) { return one.value.value_or(2) < 2; };
    const bool is_changed = std::any_of(standing.switches.begin(), standing.switches.end(), is_off);
    const std::string who = is_changed
                                ? "Somebody else has set the switch to what it is now:\n" + switches_text(standing)
                                : "Every program may execute rdpmc. ";
    return fmt::format("{}Process {} holds the counters: `tally rdpmc off` ends that.\n\n{}", who,
                       standing.held->holder.number, table(standing.held->rows));
  }
  const std::string who =
      standing.left ? fmt::format(
                          "Process {}, which held the counters, is gone, and the switch is not put back: `sudo "
                          "tally rdpmc off` does that.\n",
                          standing.left->holder.number)
                    : "tally holds no counters for rdpmc.\n";
  return who + switches_text(standing);
}

constexpr const char* usage_of_counters =
    R"(
A counter counts all that its processor executes: keep the program on one (taskset -c 1 PROGRAM), read it twice, and
subtract modulo 2 to the power of its bits. It may be moved: `tally rdpmc status` tells where it is.
)";

Result<rdpmc::Standing> carry_out(const Options& options) {
  if (options.word != "on" && !options.events.empty()) {
    return fail(Code::bad_usage, "-e goes with on", "tally rdpmc on -e LIST");
  }
  if (options.word == "off") return rdpmc::off(options.root);
  if (options.word == "status") return rdpmc::status(options.root);
  if (options.word == "on") {
    event::Sources sources;
    sources.root = options.root;
    const auto events =
        event::parse_lists(options.events.empty() ? std::vector<std::string>{usual_events} : options.events, sources);
    if (!events) return fail(events.error());
    return rdpmc::on(*events, options.root);
  }
  const std::string what = options.word.empty() ? "missing argument: on, off or status"
                                                : fmt::format("unknown word '{}'", printable(options.word));
  return fail(Code::bad_usage, what, "tally rdpmc on, tally rdpmc off, or tally rdpmc status");
}

}  // namespace

void describe_rdpmc(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_rdpmc(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto done = page.read(arguments)) return *done;
  const auto standing = carry_out(options);
  if (!standing) return report_error(standing.error());
  if (!standing->notices.empty()) say(standing->notices);
  const int printed = print(text_of(*standing) + (options.word == "on" ? usage_of_counters : ""));
  if (printed != exit_ok || options.word != "status") return printed;
  return standing->held ? exit_ok : exit_no;
}

}  // namespace tally::cli
