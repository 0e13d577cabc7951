// Steps and patterns of series of exact counts.
#include "programs/results/exact_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace tally::results {
namespace {

using Counts = std::vector<std::int64_t>;
using Indexes = std::vector<std::size_t>;

// "creep 1-20 20 1000>1105": pattern, first and last index, steps, values.
std::vector<std::string> texts_of(const Counts& counts) {
  std::vector<std::string> texts;
  for (const SeriesPattern& one : patterns_of(counts))
    texts.push_back(std::string(name(one.pattern)) + " " + std::to_string(one.first) + "-" + std::to_string(one.last) +
                    " " + std::to_string(one.steps) + " " + std::to_string(one.before) + ">" +
                    std::to_string(one.after));
  return texts;
}
using Texts = std::vector<std::string>;

TEST(ExactSteps, are_all_differences) {
  EXPECT_EQ(steps_of({}), Indexes{});
  EXPECT_EQ(steps_of(Counts{5}), Indexes{});
  EXPECT_EQ(steps_of(Counts{5, 6}), Indexes{1});
  EXPECT_EQ(steps_of(Counts{793'981, 793'981, 793'983, 793'983, 700'000}), (Indexes{2, 4}));
  // These are equal as doubles.
  EXPECT_EQ(steps_of(Counts{INT64_MAX, INT64_MAX - 1}), Indexes{1});
}

TEST(ExactSteps, of_small_commits_are_one_creep) {
  Counts counts{100'000'000};
  for (int i = 0; i < 20; ++i) counts.push_back(std::llround(static_cast<double>(counts.back()) * 1.005));
  EXPECT_EQ(steps_of(counts).size(), 20u);
  const auto patterns = patterns_of(counts);
  ASSERT_EQ(patterns.size(), 1u);
  EXPECT_EQ(patterns[0].pattern, Pattern::creep);
  EXPECT_EQ(patterns[0].steps, 20u);
  EXPECT_EQ(patterns[0].before, 100'000'000);
  EXPECT_NEAR(static_cast<double>(patterns[0].after), 110.5e6, 0.05e6);
}

TEST(ExactSteps, form_creeps) {
  EXPECT_EQ(texts_of({10, 11, 12}), Texts{});  // two steps
  EXPECT_EQ(texts_of({10, 11, 11, 11, 12, 12, 13}), Texts{"creep 1-6 3 10>13"});
  EXPECT_EQ(texts_of({13, 12, 11, 10}), Texts{"creep 1-3 3 13>10"});
  // A large step is not part of a creep, and divides it.
  EXPECT_EQ(texts_of({10, 11, 12, 13, 99, 100, 101, 102}), (Texts{"creep 1-3 3 10>13", "creep 5-7 3 99>102"}));
  EXPECT_EQ(texts_of({1, 2, 4, 8, 16, 32, 64}), Texts{});
  EXPECT_EQ(texts_of({10, 11, 12, 13, 12, 11, 10}), (Texts{"creep 1-3 3 10>13", "creep 4-6 3 13>10"}));
  // A spike does not end it.
  EXPECT_EQ(texts_of({10, 11, 50, 11, 12, 13}), (Texts{"creep 1-5 3 10>13", "spike 2-2 2 11>50"}));
}

TEST(ExactSteps, form_spikes) {
  EXPECT_EQ(texts_of({20, 20, 30, 20, 20}), Texts{"spike 2-2 2 20>30"});
  EXPECT_EQ(texts_of({20, 20, 30, 22, 22, 20}), Texts{"spike 2-2 2 20>30"});
  EXPECT_EQ(texts_of({20, 10, 20}), Texts{"spike 1-1 2 20>10"});
  EXPECT_EQ(texts_of({20, 30, 30, 20}), Texts{});  // a level of two results
  EXPECT_EQ(texts_of({20, 22, 21, 21}), Texts{});  // most of the rise stays, or half of it
  EXPECT_EQ(texts_of({20, 20, 30}), Texts{});      // the last value may stay
  EXPECT_EQ(texts_of({INT64_MIN, INT64_MAX, INT64_MIN}).size(), 1u);
}

TEST(ExactSteps, form_alternations) {
  EXPECT_EQ(texts_of({20, 22, 20, 22, 20, 22}), Texts{"alternation 1-5 5 20>22"});
  EXPECT_EQ(texts_of({20, 20, 22, 22, 22, 20, 22}), Texts{"alternation 2-6 3 20>22"});
  EXPECT_EQ(texts_of({1, 2, 1, 2, 3, 2, 3}), (Texts{"alternation 1-3 3 1>2", "alternation 4-6 3 2>3"}));
  // Its last value is no spike.
  EXPECT_EQ(texts_of({20, 22, 20, 22, 19, 19}), Texts{"alternation 1-3 3 20>22"});
}

}  // namespace
}  // namespace tally::results
