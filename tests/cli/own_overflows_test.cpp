// Counters of programs that overflow in the less usual ways.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string overflown(const std::string& what, const Words& options = {}) {
  const Finished run = tally(with(with({"run"}, options), {"--", OWN_OVERFLOWS, what}));
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(OwnOverflows, of_cycles_are_where_the_model_has_them) {
  EXPECT_EQ(overflown("cycles", {"--model", "haswell"}),
            "cycles: all sampled, most of multiplications\nprecise: Operation not supported\n");
}

TEST(OwnOverflows, of_cycles_have_the_shares_of_the_cycles) {
  EXPECT_EQ(overflown("shares", {"--model", "haswell"}), "shares: some hundred samples, right, right, right\n");
}

TEST(OwnOverflows, trap_each_thread_until_it_executes_a_program) {
  EXPECT_EQ(overflown("traps"), "traps: 10, with 4 threads 50, 0 wrong, then none\n");
}

TEST(OwnOverflows, during_their_handler_do_not_stop_the_program) {
  EXPECT_EQ(overflown("crowded"), "crowded: 4 of 4 periods right\n");
  EXPECT_EQ(overflown("crowded traps"), "crowded: 4 of 4 periods right\n");
}

// The counts of calls leave no room for samples, of which the program wants only one kind.
TEST(OwnOverflows, are_not_too_many_where_calls_are_counted) {
  const Finished run = tally({"profile", "--calls", "--pmu", "-e", "instructions", "--", OWN_OVERFLOWS, "closed"});
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_NE(run.out.find("closed: 0 samples, 2000 failures"), run.out.npos) << run.out;
  EXPECT_EQ(run.err.find("four kinds"), run.err.npos) << run.err;
}

TEST(OwnOverflows, send_signals_to_other_threads) {
  const std::string each = "all records, some signals, 0 wrong\n";
  EXPECT_EQ(overflown("others"), each + each + each);
}

TEST(OwnOverflows, send_signals_to_a_descriptor_of_another_thread) {
  EXPECT_EQ(overflown("descriptor"), "all records: code 1, right descriptor, band 41, sender 0, value 0\n");
}

TEST(OwnOverflows, are_recorded_backward) {
  EXPECT_EQ(overflown("backward"), "backward: 24000 bytes written, the last 170 records, 0 out of order\n");
}

TEST(OwnOverflows, continue_while_their_pages_are_mapped) {
  EXPECT_EQ(overflown("closed"), "closed: 100 samples, 0 failures\n");
}

// perf record asks for cycles, unless the user names another event.
TEST(OwnOverflows, of_cycles_need_a_model) {
  if (Running({"/usr/bin/env", "perf", "--version"}).finish().code() != 0) GTEST_SKIP() << "perf is not installed";
  const Finished record = tally({"run", "--", "perf", "record", "-q", "-o", "/dev/null", "--", "true"});
  EXPECT_NE(record.err.find("tally: a program asked for samples of cycles, which need --model"), std::string::npos)
      << record.err;
  const Finished named =
      tally({"run", "--", "perf", "record", "-q", "-e", "instructions:u", "-o", "/dev/null", "--", "true"});
  EXPECT_EQ(named.err.find("tally:"), std::string::npos) << named.err;
}

TEST(OwnOverflows, of_two_kinds_cannot_share_a_ring) {
  if (Running({"/usr/bin/env", "perf", "--version"}).finish().code() != 0) GTEST_SKIP() << "perf is not installed";
  for (const char* events : {"instructions:u,page-faults:u", "page-faults:u,instructions:u"}) {
    const Finished record = tally({"run", "--", "perf", "record", "-q", "-e", events, "-o", "/dev/null", "--", "true"});
    EXPECT_NE(record.code(), 0);
    EXPECT_NE(record.err.find("in one ring, which is not supported: record them in two runs"), std::string::npos)
        << record.err;
  }
}

}  // namespace
}  // namespace tally::test
