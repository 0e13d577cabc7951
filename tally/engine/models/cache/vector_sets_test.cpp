#include "tally/engine/models/cache/vector_sets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tally/engine/models/cache/lru.hpp"

namespace tally::models {
namespace {

struct Levels {
  struct Level {
    CacheShape shape;
    std::uint64_t* words;
  };
  std::vector<std::uint64_t> words;
  Level level[4];

  Levels(std::uint32_t ways, std::uint32_t code_ways)
      : words(std::size_t{64 + 16} * ways + std::size_t{2} * code_ways) {
    level[0] = level[1] = {{.sets = 64, .ways = ways, .line_bits = 6}, words.data()};
    level[2] = {{.sets = 16, .ways = ways, .line_bits = 12}, words.data() + std::size_t{64} * ways};
    level[3] = {{.sets = 2, .ways = code_ways, .line_bits = 7}, words.data() + std::size_t{80} * ways};
  }

  Level& of(std::uint64_t line) { return level[line & 3]; }
};

// Compares vectors with single lookups in lists, for lines that recur at all distances, in some sets or never.
void do_what_lists_do(Vectors by, std::uint32_t ways, std::uint32_t code_ways) {
  std::mt19937_64 random(1);
  Levels vectors(ways, code_ways), lists(ways, code_ways);
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
      const unsigned which = random() % 8;  // bit 2 is not part of an address
      const unsigned bits = vectors.of(which).shape.line_bits;
      line = (number + 0x1ff'ffff'0000) << bits | (random() & ((1u << bits) - 1) & ~7u) | which;
    }
    std::vector<std::uint8_t> hits(n);
    use_vector_levels(levels, lines.data(), n, hits.data(), by);
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto& [shape, words] = lists.of(lines[i]);
      const std::uint64_t line = lines[i] >> shape.line_bits;
      const bool hit = Lru::use_whole(words + line % shape.sets * shape.ways, shape.ways, ~(line << shape.line_bits));
      ASSERT_EQ(hits[i] != 0, hit) << round << " " << i;
      found += hit;
    }
    ASSERT_EQ(vectors.words, lists.words) << round;
  }
  EXPECT_GT(found, n * 25);
  EXPECT_LT(found, n * 180);
}

void do_what_lists_do(Vectors by) {
  for (const std::uint32_t ways : {4, 8, 12, 16}) {
    for (const std::uint32_t code_ways : {4, 8, 12, 16}) {
      SCOPED_TRACE(::testing::Message() << ways << " " << code_ways);
      do_what_lists_do(by, ways, code_ways);
    }
  }
}

TEST(VectorSets, FindAndLeaveTheSameAsLists) {
  if (!VectorLevel::fits({.sets = 64, .ways = 8})) GTEST_SKIP() << "this processor or build has no AVX2";
  do_what_lists_do(Vectors::avx2);
}

TEST(VectorSets, WithMasksFindAndLeaveTheSameAsLists) {
  if (widest_vectors() != Vectors::avx512) GTEST_SKIP() << "this processor or build has no AVX-512";
  do_what_lists_do(Vectors::avx512);
}

TEST(VectorSets, FitOnlyWhatTheyHold) {
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 6}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 63, .ways = 8}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 8, .line_bits = 5}));
  EXPECT_FALSE(VectorLevel::fits({.sets = 64, .ways = 8, .replacement = Replacement::tree_plru}));
}

TEST(VectorSets, OfCodeAndDataMayHaveDifferentWays) {
  if (!VectorLevel::fits({.sets = 64, .ways = 8})) GTEST_SKIP() << "this processor or build has no AVX2";
  const CacheShape four{.sets = 16, .ways = 4}, eight{.sets = 64, .ways = 8}, six{.sets = 64, .ways = 6},
      none{.sets = 0};
  VectorLevel levels[4];
  EXPECT_TRUE(vector_levels(levels, {four, nullptr}, {four, nullptr}));
  EXPECT_TRUE(vector_levels(levels, {four, nullptr}, {eight, nullptr}));
  EXPECT_EQ(levels[0].ways, 8U);
  EXPECT_EQ(levels[3].ways, 4U);
  EXPECT_FALSE(vector_levels(levels, {eight, nullptr}, {six, nullptr}));
  EXPECT_TRUE(vector_levels(levels, {none, nullptr}, {eight, nullptr}));
  EXPECT_EQ(levels[3].ways, 8U);
  EXPECT_TRUE(vector_levels(levels, {four, nullptr}, {none, nullptr}));
  EXPECT_EQ(levels[0].ways, 4U);
}

}  // namespace
}  // namespace tally::models
