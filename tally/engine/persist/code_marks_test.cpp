#include "tally/engine/persist/code_marks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace tally::engine::persist {
namespace {

using Ranges = std::vector<std::pair<u32, u32>>;

Ranges ranges_of(const CodeMarks<std::vector<u64>>& marks, u32 end) {
  Ranges all;
  marks.each_range(end, [&](u32 from, u32 bytes) { all.emplace_back(from, bytes); });
  return all;
}

TEST(CodeMarks, adjacent_and_overlapping_ranges_are_one) {
  std::vector<u64> words(CodeMarks<std::vector<u64>>::words_for(400));
  CodeMarks marks(words);
  for (const auto& [from, bytes] : Ranges{{0, 64}, {64, 1}, {100, 10}, {105, 200}, {399, 1}}) marks.add(from, bytes);
  EXPECT_EQ(ranges_of(marks, 400), (Ranges{{0, 65}, {100, 205}, {399, 1}}));
  EXPECT_EQ(ranges_of(marks, 64), (Ranges{{0, 64}}));
}

TEST(CodeMarks, random_ranges_are_as_byte_by_byte) {
  std::mt19937 random(1);
  for (u32 round = 0; round < 200; round++) {
    const u32 end = 1 + random() % 700;
    std::vector<u64> words(CodeMarks<std::vector<u64>>::words_for(end));
    CodeMarks marks(words);
    std::vector<bool> bytes(end + 1);
    for (u32 i = random() % 12; i > 0; i--) {
      const u32 from = random() % end, n = random() % (end - from + 1);
      marks.add(from, n);
      for (u32 k = from; k < from + n; k++) bytes[k] = true;
    }
    Ranges expected;
    for (u32 at = 0; at < end; at++) {
      if (!bytes[at]) continue;
      if (at > 0 && bytes[at - 1])
        expected.back().second++;
      else
        expected.emplace_back(at, 1);
    }
    EXPECT_EQ(ranges_of(marks, end), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tally::engine::persist
