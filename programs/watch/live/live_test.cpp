#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "programs/watch/live/kernel_statistics.hpp"
#include "programs/watch/live/process_list.hpp"

namespace tally::watch {
namespace {

TEST(KernelTimes, each_processor_by_its_number) {
  const KernelTimes times = kernel_times(
      "cpu  30 3 9 300 6 3 3 6 0 0\ncpu0 10 1 3 100 2 1 1 2 5 0\ncpu12 20 2 6 200 4 2 2 4 0 0\n"
      "intr 17 0 0\nctxt 4711\nprocs_running 3\nprocs_blocked 0\n");
  ASSERT_EQ(times.processors.size(), 2u);
  EXPECT_EQ(times.processors.at(0), (ProcessorTimes{11, 5, 100, 2, 2})) << "guests are in user, and not counted again";
  EXPECT_EQ(times.processors.at(12), (ProcessorTimes{22, 10, 200, 4, 4}));
  EXPECT_EQ(times.switches, 4711u);
  EXPECT_EQ(times.running, 3u);
}

TEST(KernelTimes, a_missing_value_is_empty) {
  EXPECT_EQ(kernel_times(""), KernelTimes{});
  EXPECT_EQ(kernel_times("cpux 1 2 3\ncpu-1 1\n"), KernelTimes{});
  EXPECT_TRUE(waiting_times("").empty());
  EXPECT_EQ(pressure_microseconds(""), std::nullopt);
}

TEST(KernelTimes, waiting_is_the_eighth_number_of_schedstat) {
  const auto waited =
      waiting_times("version 15\ntimestamp 1\ncpu0 1 2 3 4 5 6 7 8 9\ndomain0 f 1 2 3\ncpu1 0 0 0 0 0 0 0 5 0\n");
  EXPECT_EQ(waited, (std::map<int, std::uint64_t>{{0, 8}, {1, 5}}));
}

TEST(Pressure, the_total_of_some) {
  EXPECT_EQ(pressure_microseconds("some avg10=0.68 avg60=0.50 avg300=0.16 total=116687541\n"
                                  "full avg10=0.64 avg60=0.45 avg300=0.12 total=21558689\n"),
            116687541u);
}

TEST(Processes, a_name_may_contain_any_character) {
  const auto statistics = process_statistics(
      7, "7 (a) b) (c) S 1 7 7 0 -1 4194304 100 0 5 0 30 12 0 0 20 0 3 0 1299129 3133440 380 18446744073709551615");
  ASSERT_TRUE(statistics);
  EXPECT_EQ(statistics->name, "a) b) (c");
  EXPECT_EQ(statistics->state, 'S');
  EXPECT_EQ(statistics->minor_faults, 100u);
  EXPECT_EQ(statistics->major_faults, 5u);
  EXPECT_EQ(statistics->user_ticks, 30u);
  EXPECT_EQ(statistics->kernel_ticks, 12u);
  EXPECT_EQ(statistics->threads, 3u);
  EXPECT_EQ(statistics->started, 1299129u);
  EXPECT_EQ(process_statistics(7, "7 (half"), std::nullopt);
  EXPECT_EQ(process_statistics(7, ""), std::nullopt);
}

TEST(FolderFiles, reports_why_a_file_cannot_be_read) {
  FolderFiles none("/nowhere/at/all");
  EXPECT_TRUE(none.text("stat").empty());
  EXPECT_EQ(none.os_errno(), ENOENT);
  FolderFiles proc("/proc/self");
  EXPECT_FALSE(proc.text("stat").empty());
  EXPECT_GT(proc.text("smaps").size(), 8192u) << "more than the first buffer holds";
  EXPECT_TRUE(proc.text("task").empty());
  EXPECT_EQ(proc.os_errno(), EISDIR);
}

TEST(FolderFiles, numbers_in_files) {
  char pattern[] = "/tmp/tally-files-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  for (const auto& [name, text] :
       {std::pair{"plain", "42\n"}, {"negative", "-17"}, {"none", "<not counted>\n"}, {"empty", ""}}) {
    std::ofstream(folder + "/" + name) << text;
  }
  FolderFiles files(folder);
  EXPECT_EQ(files.number("plain"), 42);
  EXPECT_EQ(files.number("negative"), -17) << "temperatures may be below zero";
  for (const char* name : {"none", "empty", "missing"}) EXPECT_EQ(files.number(name), std::nullopt) << name;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tally::watch
