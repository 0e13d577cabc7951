// `tally run`: counters that programs open themselves, and that overflow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string sampled(const std::string& what, const Words& options = {}) {
  const Finished run = tally(with(with({"run"}, options), {"--", OWN_SAMPLES, what}));
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

// A loop of n rounds is 2n instructions and n branches; the call that ends the count adds 3 and 1.
TEST(OwnSamples, are_of_the_instruction_that_overflows) {
  for (const Words& options : {Words{}, Words{"--model", "haswell"}, Words{"--repeatable"}})
    EXPECT_EQ(sampled("addresses", options),
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

TEST(OwnSamples, can_be_paused) {
  EXPECT_EQ(sampled("pause"), "without a ring: -1, pause: 0, bytes: 0; on: 0, bytes: many\n");
}

TEST(OwnSamples, wake_a_poll) {
  EXPECT_EQ(sampled("poll"), "before: 0, 8 samples: 0, 12 samples: 1 1, again: 0, read 12\n");
}

TEST(OwnSamples, wake_an_epoll) { EXPECT_EQ(sampled("epoll"), "epoll: 0 1 0\n"); }

TEST(OwnSamples, of_threads_are_as_many_as_their_counts) {
  EXPECT_EQ(sampled("threads"), "threads: 4 right, another one right\n");
}

TEST(OwnSamples, that_find_no_room_are_reported) {
  EXPECT_EQ(sampled("lost"), "lost: 172 samples, 830 lost, together all\n");
}

TEST(OwnSamples, stay_in_a_mapped_ring_after_their_event) { EXPECT_EQ(sampled("rings"), "rings: 1 2 3\n"); }

TEST(OwnSamples, do_not_depend_on_what_the_program_writes_to_the_page) {
  EXPECT_EQ(sampled("page"), "16 TiB: refused, 2 samples, 2 complete\n");
}

TEST(OwnSamples, begin_when_their_event_does) { EXPECT_EQ(sampled("later"), "later: 1 and 0 samples, then 1\n"); }

TEST(OwnSamples, contain_registers_stack_callers_and_values) {
  EXPECT_EQ(sampled("contents"),
            "sample: id 1, address 1, time 1, data 1, 2 values: 1001 and 500, callers known, raw 4, registers 2: next, "
            "r8 499, stack of 64 at the frame, 64 read, complete\n");
}

// A loop of n rounds takes its branch n - 1 times. Branches from before the event was switched on are not known.
TEST(OwnSamples, contain_the_last_branches) {
  EXPECT_EQ(sampled("branches"),
            "1000 rounds: 32 branches, 32 of the loop, 0 calls of it\n"
            "10 rounds: 9 branches, 9 of the loop, 0 calls of it\n"
            "10 rounds: 9 branches, 9 of the loop, 0 calls of it\n"
            "10 rounds: 0 branches, 0 of the loop, 0 calls of it\n"
            "not opened: Operation not supported\n");
}

TEST(OwnSamples, that_the_engine_lacks_are_refused) {
  EXPECT_EQ(
      sampled("refusals"),
      "as it is: opened\nbackward: opened\ncgroup: Operation not supported\n"
      "precise without a period: Invalid argument\nrefresh: -1, Invalid argument; period: -1, Invalid argument\n");
}

/// Runs a command that records with perf, without the name of the file, and returns the lines of `perf script`.
std::vector<std::string> lines_of(Words command, const Words& script) {
  const std::string file = testing::TempDir() + "own_samples." + std::to_string(getpid());
  command.push_back(file);
  const Finished record = tally(command);
  EXPECT_EQ(record.code(), 0) << record.err;
  const Finished shown = Running(with({"/usr/bin/env", "perf", "script", "-i", file}, script)).finish();
  std::istringstream text(shown.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  std::remove(file.c_str());
  return lines;
}

/// Records a program from its start.
std::vector<std::string> recorded(const Words& options, const Words& script) {
  std::string words;
  for (const std::string& option : options) words += option + " ";
  return lines_of({"run", "--", "sh", "-c", "perf record -q -o $0 " + words + "-- " OWN_SAMPLES " work"}, script);
}

bool has_perf() { return Running({"/usr/bin/env", "perf", "--version"}).finish().code() == 0; }

// The loop has 2,000,000 instructions.
TEST(OwnSamples, are_recorded_by_perf) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const auto lines = recorded({"-e", "instructions:u", "-c", "10007"}, {"-F", "comm,period,ip,sym"});
  const auto in_loop = std::ranges::count_if(
      lines, [](const std::string& line) { return line.ends_with(" run_loop") && line.find(" 10007 ") != line.npos; });
  EXPECT_GE(in_loop, 199);
  EXPECT_LE(in_loop, 200);
  const auto named =
      std::ranges::count_if(lines, [](const std::string& line) { return line.find("own_samples") != line.npos; });
  EXPECT_EQ(named, static_cast<long>(lines.size()));
}

TEST(OwnSamples, of_perf_have_branches) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const auto lines = recorded({"-b", "-e", "branches:u", "-c", "1009"}, {"-F", "brstacksym"});
  const auto in_loop = std::ranges::count_if(lines, [](const std::string& line) {
    const std::string branch = "run_loop+";
    std::size_t n = 0;
    for (std::size_t at = 0; (at = line.find(branch, at)) != line.npos; at++) n++;
    return n == 64;  // from and to of each
  });
  EXPECT_GE(in_loop, 988);
  EXPECT_LE(in_loop, 992);
}

TEST(OwnSamples, of_perf_can_be_of_a_running_process) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const std::string spinning = OWN_SAMPLES " spin & ", end = "; kill $!; wait";
  const std::string record = "perf record -q -e instructions:u -c 1000003 -o $0 -p $! -- sleep 1";
  const auto lines = lines_of({"run", "--", "sh", "-c", spinning + record + end}, {"-F", "ip,sym"});
  const auto in_loop =
      std::ranges::count_if(lines, [](const std::string& line) { return line.ends_with(" run_loop"); });
  EXPECT_GE(in_loop, 10);
}

TEST(OwnSamples, of_perf_know_mappings_and_processes) {
  if (!has_perf()) GTEST_SKIP() << "perf is not installed";
  const auto lines = recorded({"-e", "instructions:u", "-c", "100003"}, {"--show-task-events", "--show-mmap-events"});
  const auto number = [&](const std::string& text) {
    return std::ranges::count_if(lines, [&](const std::string& line) { return line.find(text) != line.npos; });
  };
  EXPECT_EQ(number("PERF_RECORD_COMM exec: own_samples"), 1);
  EXPECT_EQ(number("PERF_RECORD_EXIT"), 1);
  EXPECT_GE(number("r-xp"), 3);
  EXPECT_GE(number("libc.so.6"), 1);
}

}  // namespace
}  // namespace tally::test
