#include "tally/cli/event_tables.hpp"

#include "tally/cli/commands.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::cli {

namespace {

// The kernel stores Arm's common events in directories above the tables that refer to them
// (tools/perf/pmu-events/arch/arm64).
std::vector<std::string> standards_of(const std::string& file) {
  std::vector<std::string> found;
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  constexpr int levels = 4;
  for (int i = 0; i < levels; ++i, folder /= "..") {
    for (const char* name : {"common-and-microarch.json", "recommended.json"}) {
      if (auto text = linux::read_regular_file((folder / name).string())) found.push_back(*std::move(text));
    }
  }
  return found;
}

}  // namespace

Result<void> EventTable::load() {
  if (file.empty()) return {};
  const auto text = linux::read_file(file);
  if (!text) {
    Error error = text.error();
    error.message = "event table: " + error.message;
    return fail(std::move(error));
  }
  const bool refers = text->find("\"ArchStdEvent\"") != std::string::npos;
  auto read = event::parse_given(*text, file, refers ? standards_of(file) : std::vector<std::string>{});
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
                  "also use the event names in FILE: a vendor's JSON table, or the output of tally discover --table")
      .value_name("FILE")
      .in(counting_group);
}

void add_table_entry(event::Explanation& explanation, const EventTable& table) {
  if (!table.table) return;
  const event::GivenEvent* one = event::find_given(*table.table, explanation.event.label);
  if (!one) return;
  if (!one->what.empty()) explanation.what = one->what;
  if (!one->counters.empty()) explanation.counters = one->counters + ", according to " + table.table->origin;
  if (!one->remarks.empty()) explanation.event.notes.push_back(one->remarks);
}

}  // namespace tally::cli
