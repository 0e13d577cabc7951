#include <fmt/format.h>

#include "tally/cli/commands.hpp"
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

struct EventOptions {
  std::vector<std::string> events;
  bool json = false;
  EventTable table;
};

void describe(Page& page, EventOptions& options) {
  page.head("Explain an event: what it counts, where it is available, how it is encoded, and its known errors.",
            "tally event [options] EVENT...");
  page.add_option("EVENT", options.events, "event names or codes, as for `tally stat -e`");
  page.add_flag("--json", options.json, "print JSON (schema tally-event/1)");
  add_event_table_option(page, options.table);
  page.footer(
      "Examples:\n"
      "  tally event instructions\n"
      "  tally event 0x4101C2\n"
      "  tally event hsw::BR_INST_RETIRED:CONDITIONAL:k\n"
      "  tally event cpu/event=0xc4,umask=0x1,cmask=2/u\n"
      "  tally event apple_m1::INST_INT_ST\n");
}

}  // namespace

void describe_event(Page& page) {
  static EventOptions unused;
  describe(page, unused);
}

int run_event(const std::vector<std::string>& arguments) {
  EventOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.events.empty()) {
    return report_error({Code::bad_usage, "missing EVENT", "for example: tally event r01c2", 0});
  }
  if (const auto loaded = options.table.load(); !loaded) return report_error(loaded.error());
  const auto events = event::parse_lists(options.events, options.table.sources());
  if (!events) return report_error(events.error());
  std::vector<output::Explained> explained;
  for (const event::Event& one : *events) {
    auto outlook = backend::outlook(one);
    explained.push_back({event::explain(one), {outlook.trust, std::move(outlook.reason), std::move(outlook.source)}});
    add_table_entry(explained.back().explanation, options.table);
  }
  if (options.json) return print(output::event_json(explained, provenance()));
  std::string text;
  for (const output::Explained& one : explained) text += (text.empty() ? "" : "\n") + output::event_text(one);
  return print(output::wrapped_lines(text, linux::terminal_columns(linux::Stream::output)));
}

}  // namespace tally::cli
