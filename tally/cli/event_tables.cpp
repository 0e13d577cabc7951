#include "tally/cli/event_tables.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "tally/base/text.hpp"

namespace tally::cli {

Result<void> EventTable::load() {
  if (file.empty()) return {};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return fail(Code::bad_usage, fmt::format("cannot read the table of events '{}'", printable(file)));
  auto read = event::parse_given(std::string(std::istreambuf_iterator<char>(stream), {}), file);
  if (!read) return fail(read.error());
  table = *std::move(read);
  return {};
}

event::Sources EventTable::sources() const {
  event::Sources sources;
  sources.given = table ? &*table : nullptr;
  return sources;
}

void add_event_table_option(Page& page, EventTable& table) {
  page.add_option("--event-table", table.file,
                  "names of events from this file as well: a vendor's JSON table, or one of tally discover --table")
      ->option_text("FILE");
}

void add_given(event::Explanation& explanation, const EventTable& table) {
  if (!table.table) return;
  const event::GivenEvent* one = event::find_given(*table.table, explanation.event.label);
  if (!one) return;
  if (!one->what.empty()) explanation.what = one->what;
  if (!one->counters.empty()) explanation.counters = one->counters + ", as " + table.table->origin + " says";
  if (!one->remarks.empty()) explanation.event.notes.push_back(one->remarks);
}

}  // namespace tally::cli
