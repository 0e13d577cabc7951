// Compares times with lists: the same lines miss, and end() leaves the same lists.
#include "tally/engine/models/cache/timed_sets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tally::models {
namespace {

struct Shapes {
  CacheShape code, data;
};

std::ostream& operator<<(std::ostream& stream, const Shapes& shapes) {
  return stream << shapes.code.sets << " x " << shapes.code.ways << " and " << shapes.data.sets << " x "
                << shapes.data.ways;
}

/// Two levels as lists, and as TimedSets.
class Both {
 public:
  explicit Both(const Shapes& shapes)
      : code_words(table_words(shapes.code)),
        data_words(table_words(shapes.data)),
        words(TimedSets::words(shapes.code, shapes.data)),
        timed({shapes.code, code_words.data()}, {shapes.data, data_words.data()}, words.data()),
        list_code_words_(code_words),
        list_data_words_(data_words),
        list_code_(shapes.code, list_code_words_.data()),
        list_data_(shapes.data, list_data_words_.data()) {}

  void use(const std::vector<Note>& notes) {
    std::vector<std::uint32_t> missed(notes.size()), expected;
    missed.resize(timed.use_all(notes.data(), static_cast<std::uint32_t>(notes.size()), missed.data()));
    for (std::uint32_t i = 0; i < notes.size(); ++i) {
      if (!(access_of(notes[i]) == Access::fetch ? list_code_ : list_data_).touch(line_of_note(notes[i])))
        expected.push_back(i);
    }
    ASSERT_EQ(missed, expected);
    EXPECT_GE(timed.sought(), expected.size());
    misses += expected.size();
  }
  void end() {
    timed.end();
    EXPECT_EQ(code_words, list_code_words_);
    EXPECT_EQ(data_words, list_data_words_);
  }

  std::vector<std::uint64_t> code_words, data_words, words;
  TimedSets timed;
  std::uint64_t misses = 0;

 private:
  std::vector<std::uint64_t> list_code_words_, list_data_words_;
  Cache list_code_, list_data_;
};

// Lines that recur at all distances; in some rounds nearly all share one entry of the hash table.
std::vector<Note> some_notes(std::mt19937_64& random, unsigned line_bits) {
  const std::uint64_t lines_in_use = 1 + random() % (random() % 2 != 0 ? 40 : 3000);
  const std::uint64_t apart = random() % 3 == 0 ? (1 << 13) + 1 : random() % 3 == 0 ? 64 : 1;
  std::vector<Note> notes(1 + random() % 1000);
  for (Note& note : notes) {
    const std::uint64_t number = 0x1ff'ffff'0000 + random() % lines_in_use * apart;
    note = note_of(number << line_bits, static_cast<Access>(random() % 4)) | (random() % 2 != 0 ? same_access : 0);
    note |=
        random() & ((std::uint64_t{1} << line_bits) - 1) & ~std::uint64_t{63};  // any of its lines stands for a page
  }
  return notes;
}

class TimedSetsTest : public ::testing::TestWithParam<Shapes> {};

TEST_P(TimedSetsTest, miss_the_same_lines_as_lists) {
  std::mt19937_64 random(1);
  Both both(GetParam());
  std::uint64_t notes_used = 0;
  for (int turn = 0; turn < 20; ++turn) {
    both.timed.begin();
    for (int round = 0; round < 10; ++round) {
      const auto notes = some_notes(random, GetParam().data.line_bits);
      notes_used += notes.size();
      ASSERT_NO_FATAL_FAILURE(both.use(notes)) << turn << " " << round;
    }
    both.end();
  }
  EXPECT_GT(both.misses, 1000U);
  EXPECT_LT(both.misses, notes_used * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(
    shapes, TimedSetsTest,
    ::testing::Values(Shapes{{.sets = 64, .ways = 8}, {.sets = 64, .ways = 12}},
                      Shapes{{.sets = 32, .ways = 4, .line_bits = 12}, {.sets = 16, .ways = 4, .line_bits = 12}},
                      Shapes{{.sets = 1, .ways = 64}, {.sets = 3, .ways = 1}},
                      Shapes{{.sets = 96, .ways = 6, .line_bits = 6}, {.sets = 128, .ways = 16, .line_bits = 6}}));

TEST(TimedSets, PresentLinesNeedNoSearch) {
  Both both({{.sets = 64, .ways = 8}, {.sets = 64, .ways = 8}});
  std::vector<Note> notes;
  for (std::uint64_t line = 0; line < 512; ++line) notes.push_back(note_of(line << 6, Access::load));
  both.timed.begin();
  both.use(notes);
  EXPECT_EQ(both.timed.sought(), 512U);
  for (int round = 0; round < 3; ++round) {
    both.use(notes);
    EXPECT_EQ(both.timed.sought(), 0U);
  }
  both.end();
}

TEST(TimedSets, ContinueOverCopies) {
  const Shapes shapes{{.sets = 8, .ways = 2}, {.sets = 8, .ways = 4}};
  std::mt19937_64 random(2);
  Both both(shapes);
  both.timed.begin();
  both.use(some_notes(random, 6));
  auto code = both.code_words, data = both.data_words, words = both.words;
  TimedSets copy = both.timed.over(code.data(), data.data(), words.data());
  const auto notes = some_notes(random, 6);
  std::vector<std::uint32_t> missed(notes.size()), missed_by_copy(notes.size());
  const auto n = static_cast<std::uint32_t>(notes.size());
  missed_by_copy.resize(copy.use_all(notes.data(), n, missed_by_copy.data()));
  missed.resize(both.timed.use_all(notes.data(), n, missed.data()));
  EXPECT_EQ(missed_by_copy, missed);
  both.timed.end();
  copy.end();
  EXPECT_EQ(code, both.code_words);
  EXPECT_EQ(data, both.data_words);
}

TEST(TimedSets, FitListsWithLinesOfOneLength) {
  const CacheShape level{.sets = 64, .ways = 8};
  EXPECT_TRUE(TimedSets::fits(level, {.sets = 3, .ways = 5}));
  EXPECT_FALSE(TimedSets::fits(level, {.sets = 0, .ways = 8}));
  EXPECT_FALSE(TimedSets::fits(level, {.sets = 64, .ways = 8, .line_bits = 7}));
  EXPECT_FALSE(TimedSets::fits({.sets = 64, .ways = 8, .replacement = Replacement::tree_plru}, level));
}

}  // namespace
}  // namespace tally::models
