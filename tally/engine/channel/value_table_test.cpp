#include "tally/engine/channel/value_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <thread>
#include <vector>

namespace tally::channel {
namespace {

using Words = std::vector<std::uint64_t>;

// What the command reads: the sums by site and group.
std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> rows_in(const Words& area) {
  const auto size = static_cast<std::uint32_t>(area[0]);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> rows;
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(area.data()) + ValueTable::rows_at;
  for (std::uint32_t i = 0; i < size && i < ValueTable::limit; ++i) {
    ValueRow row{};
    std::memcpy(&row, begin + i * sizeof row, sizeof row);
    if (row.site != 0) rows[{row.site, row.group}] += row.value[0];
  }
  return rows;
}

TEST(ValueTable, HasARowForEachGroupOfAnInstruction) {
  Words area(area_bytes / 8);
  ValueTable table(area.data());
  for (int round = 0; round < 2; ++round)
    for (std::uint64_t site = 1; site <= 1000; ++site)
      for (const std::uint64_t group : {0U, 3U}) *table.at(0x400000 + site, group) += site + group;
  EXPECT_EQ(area[0], 2000U) << "rows, in the order of their first use";
  const auto rows = rows_in(area);
  ASSERT_EQ(rows.size(), 2000U);
  for (const auto& [key, value] : rows) EXPECT_EQ(value, 2 * (key.first - 0x400000 + key.second));
}

TEST(ValueTable, IsFullAtItsLimit) {
  Words area(area_bytes / 8);
  ValueTable table(area.data());
  for (std::uint64_t site = 1; site <= ValueTable::limit; ++site) ASSERT_NE(table.at(site * 3, 0), nullptr);
  EXPECT_EQ(table.at(1, 0), nullptr);
  EXPECT_NE(table.at(3, 0), nullptr) << "a row that exists";
  EXPECT_EQ(ValueTable().at(3, 0), nullptr);
}

TEST(ValueTable, TwoMayAddRowsAtTheSameTime) {
  Words area(area_bytes / 8);
  const auto add = [&](unsigned value) {
    ValueTable table(area.data());
    for (std::uint64_t site = 1; site <= 50'000; ++site) table.at(site, 0)[value] += 1;
  };
  std::thread other(add, 1);
  add(0);
  other.join();
  EXPECT_EQ(rows_in(area).size(), 50'000U);
  ValueTable table(area.data());
  int lost = 0;
  for (std::uint64_t site = 1; site <= 50'000; ++site)
    if (const std::uint64_t* const values = table.at(site, 0); values[0] != 1 || values[1] != 1) ++lost;
  EXPECT_EQ(lost, 0);
}

TEST(ValueTable, SurvivesWhatAProgramWrites) {
  Words area(area_bytes / 8, ~std::uint64_t{0});
  EXPECT_EQ(ValueTable(area.data()).at(3, 0), nullptr);
}

}  // namespace
}  // namespace tally::channel
