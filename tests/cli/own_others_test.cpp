// Counters of programs that count other threads and processes with a model.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string counted(const std::string& what) {
  const Finished run = tally({"run", "--model", "haswell", "--", OWN_OTHERS, what});
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

constexpr const char* all_right = "off: 0, 0; on: right, right; off: 0, 0 more; on: right; 0 failures\n";

TEST(OwnOthers, of_a_thread_are_counted_while_it_runs) { EXPECT_EQ(counted("thread"), all_right); }

TEST(OwnOthers, of_a_process_are_counted_while_it_runs) { EXPECT_EQ(counted("process"), all_right); }

TEST(OwnOthers, of_a_stopped_process_are_counted_from_when_it_continues) {
  EXPECT_EQ(counted("stopped"), "0 failures; stopped: 0, 0; then: counted\n");
}

TEST(OwnOthers, of_processes_are_counted_without_free_descriptors) {
  EXPECT_EQ(counted("without descriptors"), "0 failures; stopped: 0, 0; then: counted\n");
}

TEST(OwnOthers, have_a_number_without_asking_their_process) { EXPECT_EQ(counted("id"), "0, at once\n"); }

TEST(OwnOthers, are_counted_up_to_the_end_of_their_process) { EXPECT_EQ(counted("ending"), "counted\n"); }

TEST(OwnOthers, in_a_group_of_samples_poll_as_their_leader) {
  EXPECT_EQ(counted("member"), "redirected: 0, ready: 0, 0\n");
}

bool has_perf() { return Running({"/usr/bin/env", "perf", "--version"}).finish().code() == 0; }

// perf stat -I reads while the program runs: the last interval had all the cycles.
TEST(OwnOthers, are_counted_by_perf_in_intervals) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const Finished run = tally({"run", "--model", "haswell", "--", "perf", "stat", "-I", "20", "-x", ",", "-e",
                              "cycles:u", "--", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"});
  std::istringstream lines(run.err);
  int counted_intervals = 0;
  for (std::string line; std::getline(lines, line);)
    counted_intervals += line.find(",cycles:u,") != line.npos && line.find("<not counted>") == line.npos;
  EXPECT_GE(counted_intervals, 3) << run.err;
}

// With a delay, perf adds an event that counts nothing, and takes its ring for all.
TEST(OwnOthers, share_a_ring_with_an_event_that_counts_nothing) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const Finished record = tally({"run", "--", "perf", "record", "-q", "-D", "10", "-e", "instructions:u", "-o",
                                 "/dev/null", "--", "sleep", "0.1"});
  EXPECT_EQ(record.code(), 0) << record.err;
}

}  // namespace
}  // namespace tally::test
