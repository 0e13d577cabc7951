#include "tally/engine/models/branch/gshare.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tally/engine/models/branch/branches_testing.hpp"

namespace tally::models {
namespace {

using testing::wrong;

TEST(Gshare, LearnsAlternation) {
  const auto gshare = std::make_unique<Gshare>();
  EXPECT_EQ(wrong(*gshare, "TN", 150, 50), 0U);
}

TEST(Gshare, LearnsALoopThatItsHistoryCovers) {
  const auto gshare = std::make_unique<Gshare>();
  EXPECT_EQ(wrong(*gshare, "TTTTTTTTTTTTTN", 200, 100), 0U);
}

TEST(Gshare, ALoopBeyondItsHistoryCostsItsExit) {
  const auto gshare = std::make_unique<Gshare>();
  EXPECT_EQ(wrong(*gshare, "TTTTTTTTTTTTTTTTTTTN", 200, 100), 100U);
}

// The second branch repeats the direction of the first one, which only the history shows.
TEST(Gshare, LearnsACorrelation) {
  const auto gshare = std::make_unique<Gshare>();
  std::uint32_t noise = 1;
  std::uint64_t count = 0;
  for (int i = 0; i < 100'000; ++i) {
    noise = noise >> 1 ^ (noise & 1 ? 0xd0000001u : 0u);
    const bool outcome = (noise & 1) != 0;
    gshare->predict(0x1000, outcome);
    for (int k = 0; k < 12; ++k) gshare->predict(0x1010, true);
    const bool right = gshare->predict(0x1020, outcome);
    if (i > 1000) count += !right;
  }
  EXPECT_EQ(count, 0U);
}

TEST(Gshare, PlaysManyAsOneByOne) {
  const auto one = std::make_unique<Gshare>(), many = std::make_unique<Gshare>();
  std::mt19937_64 random(1);
  std::vector<Outcome> outcomes;
  std::uint64_t wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t pc = 0x7f1234560000 + random() % 500;
    // Alternates between unpredictable branches and fully learned ones, because play() has a variant for each.
    const bool taken = i / 10'000 % 2 == 0 ? random() % 5 < pc % 5 : i % 3000 != 0;
    wrong += !one->predict(pc, taken);
    outcomes.push_back(outcome_of(pc, taken));
  }
  EXPECT_EQ(many->play(outcomes.data(), 60'000) + many->play(outcomes.data() + 60'000, 40'000), wrong);
  EXPECT_GT(wrong, 5'000u);
  EXPECT_EQ(std::memcmp(one.get(), many.get(), sizeof *one), 0);
}

// Generated code depends on it: a saturated counter that predicts right does not change.
TEST(Gshare, ASaturatedCounterThatIsRightDoesNotChange) {
  const auto gshare = std::make_unique<Gshare>();
  gshare->history = 0x2a;
  EXPECT_TRUE(gshare->predict(0x1000, false));
  EXPECT_EQ(gshare->counters[0x1000 ^ 0x2a], 0);
  EXPECT_EQ(gshare->history, 0x54U);
  EXPECT_FALSE(gshare->predict(0x1000, true));
  EXPECT_EQ(gshare->counters[0x1000 ^ 0x54], 1);
  EXPECT_EQ(gshare->history, 0xa9U);
}

}  // namespace
}  // namespace tally::models
