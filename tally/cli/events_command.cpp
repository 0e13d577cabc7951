#include <fmt/format.h>

#include <algorithm>

#include "tally/cli/commands.hpp"
#include "tally/cli/event_groups.hpp"
#include "tally/cli/event_tables.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/text/event_text.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::cli {
namespace {

struct EventsOptions {
  std::vector<std::string> patterns;
  bool all = false;
  bool json = false;
  bool groups = false;
  EventTable table;
};

void describe(Page& page, EventsOptions& options) {
  page.head("List the events that can be counted here, and how reliable each count is.",
            "tally events [options] [PATTERN...]");
  page.add_option("PATTERN", options.patterns,
                  "show matching names: a pattern with * ? [] matches the whole name, other words match a part");
  page.add_flag("--all", options.all, "search the events of all processors, not only of this one");
  page.add_flag("--groups", options.groups, "list the groups of events and metrics for `tally stat --group`");
  page.add_flag("--json", options.json, "print JSON (schema tally-events/1)");
  add_event_table_option(page, options.table);
  page.footer(
      "Without a pattern, lists the events that exist on every machine and those that this machine's kernel names. A "
      "pattern also searches the kernel's other generic events and those of this processor and of Apple M1.\n"
      "\n"
      "Exit code: 0, 1 no event matches, 2 bad usage.\n"
      "\n"
      "Examples:\n"
      "  tally events\n"
      "  tally events branch\n"
      "  tally events 'L1-*'\n"
      "  tally events 'hsw::UOPS_*'\n");
}

bool fits_any(const event::Entry& entry, const std::vector<std::string>& patterns) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const std::string& pattern) { return event::matches(entry, pattern); });
}

// How an event will be counted. An event of a table that its own library cannot encode is absent, with that reason.
backend::Outlook outlook_of(const event::Entry& entry, const event::Sources& sources) {
  const auto event = event::parse(entry.name, sources);
  return event ? backend::outlook(*event) : backend::Outlook{Trust::absent, event.error().message, Source::none};
}

std::string search_hint(const EventsOptions& options) {
  if (options.all || !options.patterns.empty()) return "";
  return "\n"
         "`tally events PATTERN` also searches the events of this processor, with --all those of all processors.\n"
         "`tally event NAME` explains one event.\n";
}

int report_no_match(const EventsOptions& options) {
  say({fmt::format("no event matches {}", printable(join(options.patterns, ", "))),
       options.all
           ? "`tally events` lists the events that exist on every machine"
           : "--all searches the events of all processors; `tally events` lists those that exist on every machine"});
  return exit_no;
}

}  // namespace

void describe_events(Page& page) {
  static EventsOptions unused;
  describe(page, unused);
}

int run_events(const std::vector<std::string>& arguments) {
  EventsOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (const auto loaded = options.table.load(); !loaded) return report_error(loaded.error());
  if (options.groups) {
    const auto groups = group_list();
    return groups ? print(*groups) : report_error(groups.error());
  }
  // "hsw::UOPS_*" names a processor: search the events of all processors.
  options.all = options.all || std::any_of(options.patterns.begin(), options.patterns.end(),
                                           [](const std::string& one) { return one.find("::") != std::string::npos; });
  const auto reach = options.all                ? event::Reach::all
                     : options.patterns.empty() ? event::Reach::here
                                                : event::Reach::wide;
  std::vector<output::OfferedEvent> offered;
  for (event::Entry& entry : event::catalog(reach, options.table.sources())) {
    if (!fits_any(entry, options.patterns)) continue;
    auto outlook = outlook_of(entry, options.table.sources());
    offered.push_back({std::move(entry), {outlook.trust, std::move(outlook.reason), std::move(outlook.source)}});
  }
  if (options.json) {
    const int code = print(output::events_json(offered, provenance()));
    return code == exit_ok && offered.empty() ? int{exit_no} : code;
  }
  if (offered.empty()) return report_no_match(options);
  const std::size_t terminal = linux::terminal_columns(linux::Stream::output);
  return print(output::wrapped_lines(output::events_text(offered, terminal) + search_hint(options), terminal));
}

}  // namespace tally::cli
