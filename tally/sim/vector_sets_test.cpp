#include "tally/sim/vector_sets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tally/sim/lru.hpp"

namespace tally::sim {
namespace {

struct Levels {
  struct Level {
    CacheShape shape;
    std::uint64_t* words;
  };
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(std::size_t{64 + 16 + 1} * 8);
  Level level[4] = {{{.sets = 64, .ways = 8, .line_bits = 6}, words.data()},
                    {{.sets = 64, .ways = 8, .line_bits = 6}, words.data()},
                    {{.sets = 16, .ways = 8, .line_bits = 12}, words.data() + 512},
                    {{.sets = 1, .ways = 8, .line_bits = 7}, words.data() + 640}};

  Level& of(std::uint64_t line) { return level[line & 3]; }
};

// Against one list after the other, for lines that come again at all distances, sets in turns and never.
void do_what_lists_do(Vectors by) {
  std::mt19937_64 random(1);
  Levels vectors, lists;
  VectorLevel levels[4];
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_TRUE(VectorLevel::fits(vectors.level[i].shape));
    levels[i] = VectorLevel(vectors.level[i].shape, vectors.level[i].words);
  }
  std::uint64_t found = 0;
  constexpr std::uint32_t n = 1000;
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t lines_in_use = 1 + random() % (round % 2 != 0 ? 20 : 2000);
    std::vector<std::uint64_t> lines(n);
    for (std::uint64_t& line : lines) {
      const std::uint64_t number = random() % lines_in_use * (round % 3 == 0 ? 64 : 1);
      const unsigned which = random() % 8;  // bit 2 is no part of an address
      line = (number + 0x1ff'ffff'0000) << vectors.of(which).shape.line_bits | which;
    }
    std::vector<std::uint8_t> hits(n);
    use_vector_levels(levels, lines.data(), n, hits.data(), by);
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto& [shape, words] = lists.of(lines[i]);
      const std::uint64_t line = lines[i] >> shape.line_bits;
      const bool hit = Lru::use_whole(words + line % shape.sets * 8, 8, ~(line << shape.line_bits));
      ASSERT_EQ(hits[i] != 0, hit) << round << " " << i;
      found += hit;
    }
    ASSERT_EQ(vectors.words, lists.words) << round;
  }
  EXPECT_GT(found, n * 50);
  EXPECT_LT(found, n * 180);
}

TEST(VectorSets, FindAndLeaveWhatListsDo) {
  if (!VectorLevel::fits({.sets = 64, .ways = 8})) GTEST_SKIP() << "this processor or build has no AVX2";
  do_what_lists_do(Vectors::avx2);
}

TEST(VectorSets, WithMasksFindAndLeaveWhatListsDo) {
  if (widest_vectors() != Vectors::avx512) GTEST_SKIP() << "this processor or build has no AVX-512";
  do_what_lists_do(Vectors::avx512);
}

TEST(VectorSets, FitOnlyWhatTheyHold) {
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 4}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 63, .ways = 8}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 8, .line_bits = 5}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 8, .replacement = Replacement::tree_plru}));
}

}  // namespace
}  // namespace tally::sim
