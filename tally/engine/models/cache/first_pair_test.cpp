// The same lines miss with every lookup method.
#include "tally/engine/models/cache/first_pair.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tally::models {
namespace {

struct Pair {
  CacheShape code, data;
  bool has_times;
};

std::ostream& operator<<(std::ostream& stream, const Pair& pair) {
  return stream << pair.code.sets << " x " << pair.code.ways << " and " << pair.data.sets << " x " << pair.data.ways
                << (pair.has_times ? ", times" : "");
}

class FirstPairTest : public ::testing::TestWithParam<Pair> {
 protected:
  static std::vector<Note> some(std::mt19937_64& random, std::uint64_t lines_in_use) {
    std::vector<Note> notes(1 + random() % FirstPair::batch);
    for (Note& note : notes) note = note_of(random() % lines_in_use << 6, static_cast<Access>(random() % 4));
    return notes;
  }
};

// A program that alternates between nearly all hits and nearly all misses, so that FirstPair switches methods.
TEST_P(FirstPairTest, misses_the_same_lines_as_lists) {
  const auto& [code, data, has_times] = GetParam();
  std::vector<std::uint64_t> code_words(table_words(code)), data_words(table_words(data)),
      times(FirstPair::time_words(code, data)), list_code_words(code_words), list_data_words(data_words);
  FirstPair pair({code, code_words.data()}, {data, data_words.data()}, has_times ? times.data() : nullptr);
  Cache list_code(code, list_code_words.data()), list_data(data, list_data_words.data());
  std::mt19937_64 random(3);
  std::uint32_t missed[FirstPair::batch];
  std::vector<std::uint64_t> old_code, old_data, old_times;
  for (int phase = 0; phase < 12; ++phase) {
    SCOPED_TRACE(phase);
    for (int round = 0; round < 300; ++round) {
      const auto notes = some(random, phase % 2 != 0 ? 5000 : 16);
      const std::uint32_t count = pair.find(notes.data(), static_cast<std::uint32_t>(notes.size()), missed);
      std::vector<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < notes.size(); ++i) {
        if (!(access_of(notes[i]) == Access::fetch ? list_code : list_data).touch(line_of_note(notes[i])))
          expected.push_back(i);
      }
      ASSERT_EQ(std::vector<std::uint32_t>(missed, missed + count), expected) << round;
    }
    // As in a child that is forked here.
    old_code = code_words, old_data = data_words, old_times = times;
    pair = pair.over(old_code.data(), old_data.data(), has_times ? old_times.data() : nullptr);
    old_code.swap(code_words), old_data.swap(data_words), old_times.swap(times);
  }
}

INSTANTIATE_TEST_SUITE_P(ways, FirstPairTest,
                         ::testing::Values(Pair{{.sets = 64, .ways = 8}, {.sets = 64, .ways = 12}, true},
                                           Pair{{.sets = 64, .ways = 8}, {.sets = 64, .ways = 12}, false},
                                           Pair{{.sets = 48, .ways = 5}, {.sets = 64, .ways = 3}, true},
                                           Pair{{.sets = 48, .ways = 5}, {.sets = 64, .ways = 3}, false}));

TEST(FirstPair, HasTimesWhereTheyFit) {
  const CacheShape level{.sets = 64, .ways = 8};
  EXPECT_GT(FirstPair::time_words(level, level), 0U);
  EXPECT_EQ(FirstPair::time_words(level, {.sets = 0, .ways = 8}), 0U);
}

}  // namespace
}  // namespace tally::models
