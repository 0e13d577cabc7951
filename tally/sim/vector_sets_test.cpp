#include "tally/sim/vector_sets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tally/sim/lru.hpp"

namespace tally::sim {
namespace {

struct Levels {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(std::size_t{64 + 16 + 1} * 8);
  VectorLevel level[4];

  Levels() {
    level[0] = level[1] = {words.data(), 64, 6};
    level[2] = {words.data() + 512, 16, 12};
    level[3] = {words.data() + 640, 1, 3};
  }
};

// Against one list after the other, for lines that come again at all distances, sets in turns and never.
TEST(VectorSets, FindAndLeaveWhatListsDo) {
  if (!VectorLevel::fits({.sets = 64, .ways = 8})) GTEST_SKIP() << "this processor or build has no AVX2";
  std::mt19937_64 random(1);
  Levels vectors, lists;
  std::uint64_t found = 0;
  constexpr std::uint32_t n = 1000;
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t lines_in_use = 1 + random() % (round % 2 != 0 ? 20 : 2000);
    std::vector<std::uint64_t> lines(n);
    for (std::uint64_t& line : lines) {
      const std::uint64_t number = random() % lines_in_use * (round % 3 == 0 ? 64 : 1);
      const unsigned which = random() % 4;
      line = (number + 0x1ff'ffff'0000) << vectors.level[which].line_bits | which;
    }
    std::vector<std::uint8_t> hits(n);
    use_vector_levels(vectors.level, lines.data(), n, hits.data());
    for (std::uint32_t i = 0; i < n; ++i) {
      const VectorLevel& level = lists.level[lines[i] & 3];
      const std::uint64_t line = lines[i] >> level.line_bits;
      const bool hit = Lru::use_whole(level.table + line % level.sets * 8, 8, ~(line << level.line_bits));
      ASSERT_EQ(hits[i], hit) << round << " " << i;
      found += hit;
    }
    ASSERT_EQ(vectors.words, lists.words) << round;
  }
  EXPECT_GT(found, n * 50);
  EXPECT_LT(found, n * 180);
}

TEST(VectorSets, FitOnlyWhatTheyHold) {
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 4}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 63, .ways = 8}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 8, .replacement = Replacement::tree_plru}));
}

}  // namespace
}  // namespace tally::sim
