// `tally run`: the files and the answers of the processor that describe the PMU.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string output_of(const Words& options, const Words& command) {
  const Finished run = tally(with(with({"run"}, options), with({"--"}, command)));
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.err, "");
  return run.out;
}

TEST(PmuFiles, are_found_by_every_call) {
  EXPECT_EQ(output_of({}, {PMU_FILES}),
            "open: 4\nopenat: 4\nopenat2: 4\ndevice: 4\nnone: No such file or directory\n"
            "other: No such file or directory\nstat: file\nlstat: link\nnewfstatat: file\nstatx: link\naccess: 0\n"
            "faccessat: 0\nfaccessat2: 0\nreadlink: ../../../devices/cpu\nreadlinkat: ../../../devices/cpu\n"
            "statfs: 0\nlistxattr: 0\ngetdents: 1 cpu, 1 software\nof a descriptor: 1 cpu, 1 software\nchdir: 0\n"
            "current: 4\nchdir: 0\ncurrent: 4\n");
}

TEST(PmuFiles, are_as_the_kernel_has_them_for_the_processor) {
  const std::string print = "cd /sys/bus/event_source/devices/cpu && head -v format/event events/* caps/*";
  EXPECT_EQ(output_of({"--cpu-model", "zen4"}, {"sh", "-c", print}),
            "==> format/event <==\nconfig:0-7,32-35\n\n==> events/branch-instructions <==\nevent=0xc2\n\n"
            "==> events/instructions <==\nevent=0xc0\n\n==> caps/max_precise <==\n3\n");
  EXPECT_EQ(output_of({"--cpu-model", "haswell"}, {"sh", "-c", print}),
            "==> format/event <==\nconfig:0-7\n\n==> events/branch-instructions <==\nevent=0xc4\n\n"
            "==> events/instructions <==\nevent=0xc0\n\n==> caps/max_precise <==\n3\n\n"
            "==> caps/pmu_name <==\nhaswell\n");
}

TEST(PmuFiles, list_the_events_of_the_models) {
  EXPECT_EQ(
      output_of({"--cpu-model", "haswell", "--model", "haswell"}, {"ls", "/sys/bus/event_source/devices/cpu/events"}),
      "branch-instructions\nbranch-misses\ncache-misses\ncache-references\ncpu-cycles\ninstructions\n"
      "ref-cycles\n");
}

// Bits of missing events: cycles, reference cycles, cache references, cache misses, branch misses.
TEST(PmuFiles, agree_with_the_answer_of_the_processor) {
  EXPECT_EQ(output_of({"--cpu-model", "haswell"}, {PMU_FILES, "cpuid"}),
            "version 3, 4 counters, missing 5d, fixed 3\n");
  EXPECT_EQ(output_of({"--cpu-model", "haswell", "--model", "haswell"}, {PMU_FILES, "cpuid"}),
            "version 3, 4 counters, missing 0, fixed 3\n");
  const Finished counted =
      tally({"stat", "-q", "--cpu-model", "haswell", "-e", "instructions", "--", PMU_FILES, "cpuid"});
  EXPECT_TRUE(counted.out.starts_with("version 0, 0 counters, missing 0, fixed 0\n")) << counted.out;
}

TEST(PmuFiles, give_perf_its_own_forms_of_events) {
  if (Running({"/bin/sh", "-c", "command -v perf"}).finish().code() != 0) GTEST_SKIP() << "perf is not installed";
  const Finished run = tally(
      {"run", "--", "perf", "stat", "-x,", "-e", "instructions:u,cpu/instructions/u,cpu/event=0xc0/u", "--", "true"});
  std::istringstream lines(run.err);
  std::set<std::string> counts;
  int events = 0;
  for (std::string line; std::getline(lines, line); events++) counts.insert(line.substr(0, line.find(',')));
  EXPECT_EQ(events, 3) << run.err;
  EXPECT_EQ(counts.size(), 1) << run.err;
  EXPECT_GT(std::stol("0" + *counts.begin()), 10000) << run.err;
}

TEST(PmuFiles, are_in_a_directory_that_is_removed) {
  std::string folder = output_of({}, {"sh", "-c", "cd /sys/bus/event_source/devices/cpu && pwd -P && test -r type"});
  ASSERT_FALSE(folder.empty());
  folder.pop_back();
  EXPECT_TRUE(folder.ends_with("/sys/devices/cpu") && folder != "/sys/devices/cpu") << folder;
  EXPECT_FALSE(std::filesystem::exists(folder.substr(0, folder.find("/sys/devices"))));
}

}  // namespace
}  // namespace tally::test
