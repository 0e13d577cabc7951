#include "tally/engine/models/cache/prefetch.hpp"

#include <gtest/gtest.h>

#include "tally/engine/models/cache/tag.hpp"

namespace tally::models {
namespace {

TEST(NextLine, StaysInThePage) {
  EXPECT_EQ(next_line(0x1000, 6), 0x1040U);
  EXPECT_EQ(next_line(0x103f, 6), 0x1040U);
  EXPECT_EQ(next_line(0x1fbf, 6), 0x1fc0U);
  EXPECT_EQ(next_line(0x1fc0, 6), no_line);
}

TEST(Streamer, TwoStepsInOneDirectionMakeAStream) {
  Streamer streamer;
  EXPECT_EQ(streamer.request(0x1000, 6).count, 0U);
  EXPECT_EQ(streamer.request(0x1040, 6).count, 0U);
  EXPECT_EQ(streamer.request(0x1085, 6), (Streamer::Lines{.first = 0x10c0, .step = 64, .count = 2}));
  EXPECT_EQ(streamer.request(0x1200, 6), (Streamer::Lines{.first = 0x1240, .step = 64, .count = 2})) << "with gaps too";
}

TEST(Streamer, Downwards) {
  Streamer streamer;
  streamer.request(0x1fc0, 6);
  streamer.request(0x1f80, 6);
  EXPECT_EQ(streamer.request(0x1f40, 6), (Streamer::Lines{.first = 0x1f00, .step = -64, .count = 2}));
}

TEST(Streamer, AChangeOfDirectionEndsIt) {
  Streamer streamer;
  for (const std::uint64_t address : {0x1000U, 0x1040U, 0x1080U}) streamer.request(address, 6);
  EXPECT_EQ(streamer.request(0x1000, 6).count, 0U);
  EXPECT_EQ(streamer.request(0x1000, 6).count, 0U) << "a repeated line has no direction";
  EXPECT_EQ(streamer.request(0x1040, 6).count, 0U);
}

TEST(Streamer, StaysInThePage) {
  Streamer streamer;
  streamer.request(0x1f00, 6);
  streamer.request(0x1f40, 6);
  EXPECT_EQ(streamer.request(0x1f80, 6), (Streamer::Lines{.first = 0x1fc0, .step = 64, .count = 1}));
  EXPECT_EQ(streamer.request(0x1fc0, 6), Streamer::Lines{});
  EXPECT_EQ(streamer.request(0x2000, 6).count, 0U) << "the next page begins a new stream";
}

TEST(Streamer, ContinuesAStreamAtItsStepOrCloser) {
  Streamer streamer;
  const auto continues = [&streamer](std::uint64_t line) { return streamer.continues(0x1000 + line * 64, 6); };
  EXPECT_FALSE(continues(0));
  EXPECT_FALSE(continues(5));
  EXPECT_TRUE(continues(10));
  EXPECT_TRUE(continues(12)) << "it is within the lines ahead";
  EXPECT_FALSE(continues(17));
  EXPECT_TRUE(continues(22));
  EXPECT_FALSE(continues(20)) << "it goes back";
  EXPECT_TRUE(continues(18));
}

TEST(Streamer, FollowsEightPages) {
  const auto third_request = [](unsigned between) {
    Streamer streamer;
    streamer.request(0x1000, 6);
    streamer.request(0x1040, 6);
    for (unsigned i = 0; i < between; ++i) streamer.request(0x10000 + i * 0x1000, 6);
    return streamer.request(0x1080, 6).count;
  };
  EXPECT_EQ(third_request(7), 2U);
  EXPECT_EQ(third_request(8), 0U);
}

}  // namespace
}  // namespace tally::models
