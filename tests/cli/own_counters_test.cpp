// `tally run`, and `--pmu`: hardware counters that programs open themselves.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string counted(const std::string& what) {
  const Finished run = tally({"run", "--", OWN_COUNTERS, what});
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

// A loop of n rounds is 2n instructions and n branches; the call that ends the count adds 3 and 1.
TEST(OwnCounters, of_a_group_are_exact) {
  EXPECT_EQ(counted("group"),
            "group 1: 56 bytes, 2 values, 5 instructions, 2 branches, ids match, times equal\n"
            "group 1000: 56 bytes, 2 values, 2003 instructions, 1001 branches, ids match, times equal\n"
            "group 1000000: 56 bytes, 2 values, 2000003 instructions, 1000001 branches, ids match, times equal\n"
            "short read: -1, No space left on device\n");
}

// The kernel counts the page faults, also those of the engine.
TEST(OwnCounters, of_a_group_with_events_of_the_kernel_are_exact) {
  const Finished natively = Running({OWN_COUNTERS, "software"}).finish();
  if (!natively.out.starts_with("nothing wrong: opened")) GTEST_SKIP() << "the kernel refuses all events";
  EXPECT_EQ(counted("mixed"),
            "88 bytes, 4 values: few 2003 few 2003, then many many many many, then 72 bytes\n"
            "88 bytes, 4 values: 2003 few 1001 few, then many many many many, then 72 bytes\n");
}

TEST(OwnCounters, can_be_read_by_rdpmc) {
  EXPECT_EQ(counted("mapped"), "mapped: off -1, offset 2003, between: 2 1003, in order\n");
}

TEST(OwnCounters, live_as_long_as_a_descriptor) {
  EXPECT_EQ(counted("duplicates"), "duplicates: 2003 2003\nreplaced: 2003, readv 8\nclosed: -1\n");
}

TEST(OwnCounters, are_not_changed_by_descriptors_that_others_close) {
  EXPECT_EQ(counted("closed"), "closed in a vfork child: 2003\nleader closed: few, then many\n");
}

TEST(OwnCounters, of_the_parent_can_be_read_by_a_child) {
  EXPECT_EQ(counted("child"), "child: 2003\nchild's own: 2003\nparent: 2003\n");
}

// As in the kernel, a reset does not forget what threads and children counted that have ended.
TEST(OwnCounters, that_are_inherited_include_threads_and_children) {
  EXPECT_EQ(counted("threads"),
            "inherited: 2003\nof a thread: 2003, inherited with it: 4006\nwith a process: 6009\nreset: 4006\n");
}

// Those of the program that a child executes, and of its child.
TEST(OwnCounters, of_another_process_equal_those_of_tally) {
  const Finished run = tally({"stat", "-q", "--pmu", "--per-process", "--format", "csv", "-e", "instructions:u", "--",
                              OWN_COUNTERS, "program"});
  const long count = std::stol("0" + run.out);
  std::istringstream lines(run.err);
  std::string line;
  std::vector<long> counts;
  while (std::getline(lines, line)) {
    const bool is_process = line.starts_with("1,,") && !line.starts_with("1,,,");
    if (!is_process || line.find(",exec,") != std::string::npos) continue;
    const std::string name = "instructions:u,";
    counts.push_back(std::stol(line.substr(line.find(name) + name.size())));
  }
  ASSERT_EQ(counts.size(), 3) << run.out << run.err;
  EXPECT_EQ(count, counts[1] + counts[2]) << run.out;
  EXPECT_TRUE(run.out.ends_with("faults: many\n")) << run.out;
}

TEST(OwnCounters, continue_when_a_program_executes_another_one) {
  EXPECT_EQ(counted("execute"), "executed: many, then 2003\n");
}

TEST(OwnCounters, can_be_passed_to_another_process) { EXPECT_EQ(counted("passed"), "received: 2003\n"); }

// A thread that may run on several processors is refused: what it executes is not divided among them.
TEST(OwnCounters, of_a_processor_count_threads_that_run_on_no_other) {
  const std::string out = counted("processors");
  if (out == "one processor\n") GTEST_SKIP() << out;
  EXPECT_EQ(out,
            "unbound: Operation not supported\nunknown processor: Invalid argument\nnone: Invalid argument\n"
            "bound: 2003, elsewhere 0\nmoved: 2003, elsewhere 2003\nof a child that moved: its loop, before: few\n"
            "unbound while it counts: 0 bytes\n");
}

TEST(OwnCounters, of_threads_that_fork_are_known) { EXPECT_EQ(counted("together"), "wrong reads: 0\n"); }

TEST(OwnCounters, are_switched_by_prctl) { EXPECT_EQ(counted("prctl"), "switched: equal, few\n"); }

TEST(OwnCounters, can_be_opened_and_closed_many_times) { EXPECT_EQ(counted("many"), "100000 opens: 200300\n"); }

TEST(OwnCounters, do_not_wait_for_processes_that_were_killed) {
  EXPECT_EQ(counted("kills"), "killed: 0 wrong, 0 long waits\n");
}

TEST(OwnCounters, refuse_wrong_attributes_as_the_kernel_does) {
  const Finished natively = Running({OWN_COUNTERS, "software"}).finish();
  if (!natively.out.starts_with("nothing wrong: opened")) GTEST_SKIP() << "the kernel refuses all events";
  EXPECT_EQ(counted("errors"), natively.out);
}

TEST(OwnCounters, refuse_random_attributes_as_the_kernel_does) {
  const Finished natively = Running({OWN_COUNTERS, "software"}).finish();
  if (!natively.out.starts_with("nothing wrong: opened")) GTEST_SKIP() << "the kernel refuses all events";
  EXPECT_EQ(counted("compare"), "5000 attributes: 0 differ, many opened\n");
}

TEST(OwnCounters, that_the_engine_lacks_are_missing) {
  const Finished run = tally({"run", "--cpu-model", "haswell", "--", OWN_COUNTERS, "others"});
  EXPECT_EQ(run.out,
            "kernel: Permission denied\ncycles: No such file or directory\nnumber: Invalid argument\n"
            "unknown code: No such file or directory\nIntel's branches: opened\n"
            "AMD's branches: No such file or directory\nloads: opened\nmapped: Invalid argument\npoll: 1, 0\n");
}

TEST(OwnCounters, of_cycles_and_misses_are_those_of_the_model) {
  const Finished run = tally({"run", "--model", "haswell", "--", OWN_COUNTERS, "modelled"});
  EXPECT_EQ(run.out,
            "cycles: one a round, ref-cycles: the same, misses: few\nof a program: more\n"
            "of another process: opened, from its next program on: opened\nby rdpmc: no\n")
      << run.err;
}

TEST(OwnCounters, change_no_environment) {
  const std::string all = tally({"run", "--", "env"}).out;
  EXPECT_FALSE(holds(all, "LIBPFM")) << all;
}

TEST(OwnCounters, are_allowed_by_the_kernels_setting) {
  EXPECT_EQ(tally({"run", "--", "cat", "/proc/sys/kernel/perf_event_paranoid"}).out, "2\n");
}

TEST(OwnCounters, are_no_option_of_run_or_of_a_native_run) {
  EXPECT_NE(tally({"run", "--pmu", "--", "true"}).err.find("unknown option"), std::string::npos);
  EXPECT_NE(tally({"stat", "--pmu", "--native", "--", "true"}).err.find("--native cannot be used with --pmu"),
            std::string::npos);
}

TEST(OwnCounters, of_cycles_need_both_options) {
  const Finished run = tally({"run", "--cpu-model", "haswell", "--", OWN_COUNTERS, "modelled"});
  if (run.err.find("this processor lacks") != std::string::npos) GTEST_SKIP() << run.err;
  EXPECT_NE(run.err.find("they need --model haswell next to --cpu-model haswell"), std::string::npos) << run.err;
}

TEST(OwnCounters, are_missing_without_the_option) {
  const Finished run = tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--", OWN_COUNTERS, "errors"});
  EXPECT_FALSE(run.out.starts_with("nothing wrong: opened"));
}

}  // namespace
}  // namespace tally::test
