// Tests that docs/reference/events.md lists exactly the names of the tables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::event {
namespace {

std::string quoted(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) {
    if (!name.empty()) all.push_back("`" + name + "`");
  }
  return join(all, ", ");
}

std::vector<std::string> rows_of_the_table() {
  std::vector<std::string> rows;
  for (const Definition& line : all()) {
    std::vector<std::string> others;
    for (const Alias& alias : aliases()) {
      if (alias.id == line.id) others.emplace_back(alias.name);
    }
    rows.push_back(fmt::format("| `{}` | {} | {} |", line.name, line.what, quoted(others)));
  }
  return rows;
}

std::string families(std::uint32_t bits) {
  const struct {
    Family family;
    const char* name;
  } names[] = {{Family::intel_old, "Core 2"},
               {Family::intel_core, "Nehalem to Cascade Lake"},
               {Family::intel_recent, "Ice Lake and later"},
               {Family::intel_atom, "Silvermont and later Atoms"},
               {Family::amd, "AMD before Zen"},
               {Family::amd_zen, "AMD Zen"}};
  std::vector<std::string> some;
  for (const auto& one : names) {
    if (bits & 1U << static_cast<unsigned>(one.family)) some.emplace_back(one.name);
  }
  return join(some, ", ");
}

std::vector<std::string> rows_of_the_codes() {
  std::vector<std::string> rows;
  for (const KnownCode& line : known_codes()) {
    if (!line.id) continue;
    rows.push_back(fmt::format("| {:02X}/{:02X} | `{}` | `{}` | {} |", line.event, line.umask, line.name,
                               definition(*line.id).name, families(line.families)));
  }
  return rows;
}

std::string counters(std::uint16_t bits) {
  std::vector<std::string> some;
  for (int i = 0; i < 10; ++i) {
    if (bits & 1U << i) some.push_back(fmt::format("{}", i));
  }
  return join(some, " ");
}

std::vector<std::string> rows_of_apple() {
  std::vector<std::string> rows;
  for (const pmu::apple::Event& line : pmu::apple::events()) {
    const std::string seen = line.observed ? fmt::format(" (seen: {})", counters(line.observed)) : "";
    rows.push_back(fmt::format("| {:02X} | {} | {} | {}{} | {} |", line.code, quoted({std::string(line.linux_name)}),
                               quoted(split(line.framework_name, ' ')), counters(line.counters), seen, line.what));
  }
  return rows;
}

// The table rows below a heading, without the table's two header rows.
std::string rows_below(const std::string& heading) {
  std::ifstream page(TALLY_EVENTS_REFERENCE);
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == "## " + heading;
    if (inside && line.starts_with("| ") && !line.starts_with("| name") && !line.starts_with("| code"))
      rows.push_back(line);
  }
  return join(rows, "\n");
}

TEST(Reference, has_the_table) { EXPECT_EQ(rows_below("Events of every machine"), join(rows_of_the_table(), "\n")); }
TEST(Reference, has_the_codes) {
  EXPECT_EQ(rows_below("Codes that are events of the table"), join(rows_of_the_codes(), "\n"));
}
TEST(Reference, has_apples_events) { EXPECT_EQ(rows_below("Apple M1"), join(rows_of_apple(), "\n")); }

}  // namespace
}  // namespace tally::event
