#include "tally/linux/files/spool.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace tally::linux {
namespace {

// Adds blocks of many lengths, more than a chunk in total, and reads blocks of other lengths.
void returns_what_was_added(std::uint32_t numbers) {
  Spool spool;
  std::vector<std::uint32_t> all(numbers);
  std::iota(all.begin(), all.end(), 1u);
  for (std::size_t at = 0, n = 1; at < all.size(); at += n, n = n * 7 % 1009) {
    n = std::min(n, all.size() - at);
    spool.add(&all[at], n * sizeof all[0]);
  }
  for (int round = 0; round < 2; ++round) {
    spool.rewind();
    std::vector<std::uint32_t> read(all.size());
    for (std::size_t at = 0, n = 3; at < all.size(); at += n, n = n * 5 % 4001) {
      n = std::min(n, all.size() - at);
      ASSERT_TRUE(spool.read(&read[at], n * sizeof all[0]));
    }
    EXPECT_EQ(read, all);
    char more = 0;
    EXPECT_FALSE(spool.read(&more, 1));
  }
}

TEST(Spool, returns_what_was_added) {
  returns_what_was_added(10);
  returns_what_was_added(3'000'000);
}

TEST(Spool, keeps_in_memory_what_no_file_takes) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  setenv("TMPDIR", "/proc/no/such/folder", 1);
  returns_what_was_added(1'000'000);
  kept.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace tally::linux
