// `tally run`: counters that programs open themselves, and that overflow.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string sampled(const std::string& what) {
  const Finished run = tally({"run", "--", OWN_SAMPLES, what});
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

// A loop of n rounds is 2n instructions and n branches; the call that ends the count adds 3 and 1.
TEST(OwnSamples, are_of_the_instruction_that_overflows) {
  EXPECT_EQ(sampled("addresses"),
            "period 100003: 10000003 counted, 99 samples, 0 wrong\n"
            "period 7: 2003 counted, 286 samples, 0 wrong\n"
            "period 1: 1003 counted, 1003 samples, 0 wrong\n"
            "period 1009: 1000001 counted, 991 samples, 0 wrong\n");
}

TEST(OwnSamples, send_a_signal_at_the_next_instruction) {
  EXPECT_EQ(sampled("signals"), "signals: all, 0 wrong, flags kept\n");
}

// The loop has 1,000,001 branches, and the handler one or two each time.
TEST(OwnSamples, count_a_loop_by_its_overflows) { EXPECT_TRUE(sampled("loop").starts_with("loop: 100")); }

TEST(OwnSamples, end_after_a_number_of_overflows) {
  EXPECT_EQ(sampled("refresh"), "refresh 0, period 0: 1 signals, 1 of them the last, counted 3000\n");
}

TEST(OwnSamples, wake_a_poll) {
  EXPECT_EQ(sampled("poll"), "before: 0, 8 samples: 0, 12 samples: 1 1, again: 0, read 12\n");
}

TEST(OwnSamples, that_find_no_room_are_reported) {
  EXPECT_EQ(sampled("lost"), "lost: 172 samples, 830 lost, together all\n");
}

}  // namespace
}  // namespace tally::test
