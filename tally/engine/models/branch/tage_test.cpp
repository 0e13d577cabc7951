#include "tally/engine/models/branch/tage.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tally/core/base/full_run_testing.hpp"
#include "tally/engine/models/branch/branches_testing.hpp"
#include "tally/engine/models/branch/tage_testing.hpp"

namespace tally::models {
namespace {

using testing::wrong;

std::unique_ptr<Tage> tage() {
  auto result = std::make_unique<Tage>();
  result->reset();
  return result;
}

TEST(Tage, LearnsABiasAtOnce) { EXPECT_LE(wrong(*tage(), "T", 100, 0), 2U); }

TEST(Tage, LearnsAlternation) { EXPECT_EQ(wrong(*tage(), "TN", 300, 200), 0U); }

// The lengths are within TAGE's history of 128 outcomes.
TEST(Tage, LearnsLongLoops) {
  for (const std::size_t length : {10U, 30U, 60U, 100U}) {
    const std::string loop = std::string(length - 1, 'T') + "N";
    EXPECT_EQ(wrong(*tage(), loop, 600, 500), 0U) << length;
  }
}

TEST(Tage, ALoopBeyondItsHistoryCostsItsExit) {
  EXPECT_NEAR(static_cast<double>(wrong(*tage(), std::string(299, 'T') + "N", 600, 500)), 100, 15);
}

TEST(Tage, LearnsLongPatterns) {
  // The same 15 or more outcomes occur several times, and different outcomes follow them.
  const std::string pattern = "TTNTTTTTTTTTTTTTTTTTTTTNNTTTTTTTTTTTTTTTTTTTTTTNTNTTTTTTTTTTTTTTTTTTTTTTTT";
  EXPECT_EQ(wrong(*tage(), pattern, 600, 500), 0U);
}

// Sorting the same numbers again and again: a Zen 5 repeats 24,000 random outcomes of one branch.
TEST(Tage, LearnsWhatIsRandomAndRepeats) {
  const auto predictor = tage();
  std::uint32_t noise = 1;
  std::vector<bool> outcomes(10'000);
  for (auto&& outcome : outcomes) outcome = ((noise = noise * 1664525 + 1013904223) >> 24 & 1) != 0;
  int wrong = 0;
  for (int round = 0; round < 12; ++round)
    for (const bool outcome : outcomes) wrong += !predictor->predict(0x401000, outcome) && round >= 10 ? 1 : 0;
  EXPECT_LE(wrong, 800) << "of 20,000";
}

// Noise is unpredictable: about half of its predictions are wrong, and not more, even if it allocates many entries.
TEST(Tage, NoiseIsHalfWrong) {
  const auto predictor = tage();
  std::uint32_t noise = 1;
  int count = 0;
  for (int i = 0; i < 100'000; ++i) {
    noise = noise * 1664525 + 1013904223;
    count += !predictor->predict(0x1000 + noise % 64 * 4, (noise >> 24 & 1) != 0);
  }
  EXPECT_NEAR(count, 50'000, 1'500);
}

// A small program: loops with long patterns, and between them unpredictable branches that could occupy all entries.
class Mixed {
 public:
  explicit Mixed(std::uint32_t noise = 1) : noise_(noise) {}

  /// Returns the mispredictions of the branches with patterns in the last `counted` rounds.
  int wrong(Tage& predictor, int rounds, int counted) {
    int count = 0;
    for (int round = 0; round < rounds; ++round) {
      for (unsigned loop = 0; loop < 8; ++loop) {
        for (unsigned i = 0; i < 20 + loop; ++i) {
          const bool right = predictor.predict(0x2000 + loop * 16, i != 19 + loop);
          if (round >= rounds - counted) count += !right;
        }
        for (unsigned i = 0; i < 4; ++i) predictor.predict(0x8000 + next() % 256 * 4, (next() >> 3 & 1) != 0);
      }
    }
    return count;
  }

 private:
  std::uint32_t next() {
    noise_ = noise_ * 1664525 + 1013904223;
    return noise_ >> 8;
  }
  std::uint32_t noise_;
};

TEST(Tage, NoiseDoesNotDisplaceThePatterns) {
  // Each seed causes 4 to 25 mispredictions in its last 8000 exits.
  int wrong = 0;
  for (std::uint32_t noise = 1; noise <= 16; ++noise) wrong += Mixed(noise * 77'777).wrong(*tage(), 4000, 1000);
  EXPECT_LE(wrong, 16 * 15) << "of 16 * 8000 exits";
}

// The predictor must replace useful entries that are no longer used.
TEST(Tage, LearnsANewProgramAfterALongOne) {
  const auto predictor = tage();
  const auto program = [&](std::uint64_t pc, unsigned loops, int rounds) {
    int count = 0;
    for (int round = 0; round < rounds; ++round) {
      for (unsigned loop = 0; loop < loops; ++loop) {
        for (unsigned i = 0; i < 12 + loop % 7; ++i) {
          const bool right = predictor->predict(pc + std::uint64_t{loop} * 64, i != 11 + loop % 7);
          if (round >= rounds - 10) {
            count += !right;
          }
        }
      }
    }
    return count;
  };
  program(0x10000, 600, 300);
  EXPECT_LE(program(0x900000, 100, 300), 50) << "of 1000 exits";
}

TEST(Tage, ResetClearsAll) {
  const auto used = tage();
  Mixed().wrong(*used, 100, 0);
  used->reset();
  const auto fresh = tage();
  std::uint32_t noise = 1;
  for (int i = 0; i < 100'000; ++i) {
    noise = noise * 1664525 + 1013904223;
    ASSERT_EQ(used->predict(noise >> 20, (noise >> 8 & 1) != 0), fresh->predict(noise >> 20, (noise >> 8 & 1) != 0))
        << i;
  }
}

// Compares the predictions of predict(), and of play() with batches of 1 to 100 branches, with the reference.
class Compared {
 public:
  Compared() {
    played_->reset();
    predicted_->reset();
  }

  void branch(std::uint64_t pc, bool taken) {
    const std::uint32_t word = outcome_of(pc, taken);
    const bool right = plain_->predict(word);
    ASSERT_EQ(predicted_->predict(pc, taken), right) << "branch " << branches_;
    ++branches_;
    words_.push_back(word);
    if (!right) wrong_.push_back(word);
    if (words_.size() < length_) return;
    const std::uint64_t wrong =
        played_->play(words_.data(), static_cast<std::uint32_t>(words_.size()), words_.data()).conditional;
    ASSERT_EQ(wrong, wrong_.size()) << "branches up to " << branches_;
    words_.resize(wrong);
    ASSERT_EQ(words_, wrong_);
    words_.clear();
    wrong_.clear();
    length_ = length_ * 7 % 101;  // 1 … 100
  }
  int agings() const { return plain_->agings(); }

 private:
  std::unique_ptr<testing::PlainTage> plain_ = std::make_unique<testing::PlainTage>();
  std::unique_ptr<Tage> predicted_ = std::make_unique<Tage>(), played_ = std::make_unique<Tage>();
  std::vector<std::uint32_t> words_, wrong_;
  std::uint64_t branches_ = 0;
  std::size_t length_ = 1;
};

std::uint32_t next(std::uint32_t& noise) { return (noise = noise * 1664525 + 1013904223) >> 8; }

TEST(Tage, PredictsNoiseAsTheReference) {
  Compared compared;
  std::uint32_t noise = 1;
  for (int i = 0; i < 300'000 && !::testing::Test::HasFatalFailure(); ++i) {
    const std::uint64_t pc = (std::uint64_t{next(noise)} << 32 | next(noise) << 10) + next(noise) % 1024;
    compared.branch(pc, (next(noise) & 1) != 0);
  }
}

TEST(Tage, PredictsLoopsAsTheReference) {
  Compared compared;
  for (unsigned round = 0; round < 300; ++round) {
    for (unsigned loop = 0; loop < 40; ++loop) {
      for (unsigned i = 0; i <= loop && !::testing::Test::HasFatalFailure(); ++i) {
        compared.branch(0x7f12'3456'7000 + std::uint64_t{loop} * 44, i != loop);
        compared.branch(0x401000 + loop * 12, i % (2 + round % 3) != 0);
      }
    }
  }
}

// Branches that depend on the parity of four of the last 28 outcomes, biased branches, and unpredictable branches.
TEST(Tage, PredictsCorrelatedBranchesAsTheReference) {
  Compared compared;
  std::uint32_t noise = 1, history = 0;
  for (int i = 0; i < 500'000 && !::testing::Test::HasFatalFailure(); ++i) {
    const std::uint32_t branch = i % 7 == 0 ? next(noise) % 2000 : static_cast<std::uint32_t>(i) / 50 % 2000;
    bool taken = next(noise) % 16 < branch % 16;
    if (branch % 4 == 0) taken = std::popcount(history & (0x80411u << branch % 9)) % 2 != 0;
    history = history << 1 | static_cast<std::uint32_t>(taken);
    compared.branch(0x401000 + branch * 13, taken);
  }
}

// The branches first follow patterns, so entries in all tables become useful. Then some of the branches become noise.
// Noise gets no entry until all useful counters have aged.
TEST(Tage, AgesAsTheReference) {
  Compared compared;
  std::uint32_t noise = 1;
  const unsigned epochs = tally::test::in_full_run(60u, 15u);
  for (unsigned epoch = 0; epoch < epochs; ++epoch) {
    for (unsigned round = 0; round < 14; ++round) {
      for (unsigned branch = 0; branch < 4'800 && !::testing::Test::HasFatalFailure(); ++branch) {
        const bool taken = (branch * 2654435761u >> (round + epoch) % 7 & 1) != 0;
        compared.branch(0x401000 + epoch * 0x10000 + branch * 20, taken);
      }
    }
    for (int i = 0; i < 40'000 && !::testing::Test::HasFatalFailure(); ++i)
      compared.branch(0x401000 + epoch * 0x10000 + next(noise) % 800 * 20, (next(noise) & 1) != 0);
  }
  EXPECT_GE(compared.agings(), static_cast<int>(epochs / 15));
}

}  // namespace
}  // namespace tally::models
