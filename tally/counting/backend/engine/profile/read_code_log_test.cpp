// Tests tables of the channel, of which only written pages have rows.
#include "tally/counting/backend/engine/profile/read_code_log.hpp"

#include <gtest/gtest.h>

#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {
namespace {

/// Does not divide a page, so that some rows cross a page boundary.
struct Row {
  std::uint64_t number, rest[8];
};

constexpr std::uint64_t begin = 1 << 20, rows = 100'000, limit = begin + rows * sizeof(Row) + 8;

std::vector<std::uint64_t> numbers_after(const std::vector<std::uint64_t>& written) {
  const auto file = linux::make_memory_file("table", 64u << 20);
  for (const std::uint64_t i : written) {
    const Row row{i + 1, {}};
    EXPECT_TRUE(
        linux::write_at(file->get(), begin + i * sizeof row, {reinterpret_cast<const char*>(&row), sizeof row}));
  }
  const auto table = read_table<Row>(file->get(), begin, limit);
  EXPECT_LE(table.size(), written.size() * (8192 / sizeof(Row) + 3)) << "pages were read that nobody wrote";
  std::vector<std::uint64_t> found;
  for (const Row& one : table)
    if (one.number != 0) found.push_back(one.number - 1);
  return found;
}

TEST(CodeLogTable, has_the_rows_of_written_pages_once_and_in_order) {
  const std::vector<std::uint64_t> places[] = {
      {}, {0}, {rows - 1}, {0, 1, 2, rows - 1}, {56, 57, 113, 114}, {100, 50'000, 50'001, 99'999}};
  for (const auto& written : places) EXPECT_EQ(numbers_after(written), written);
}

}  // namespace
}  // namespace tally::backend::engine
