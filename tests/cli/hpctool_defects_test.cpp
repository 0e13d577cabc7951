// The defects of HPCTool in its windows and in the files that it writes: each has a test here, except for those that do
// not concern windows. Two polls only (1): Traps in tests/marks. Restoring counters for another process (5), as a wrong
// backend: filter_is_broken in programs/verify/mutants_test. The masked interrupt (9): hpctool-masked of
// tests/golden/lab. The wrong name of fixed counter 2 (11): HpcTool in programs/register/pmu/values_test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

struct Window {
  std::string program, trigger;
  std::int64_t length = 0, pid = 0, tid = 0, instructions = 0, branches = 0;
};

// The rows of `tally sample -e instructions,branches`.
std::vector<Window> windows_of(const Words& options, const Words& command) {
  const TemporaryFile file("windows.csv");
  Words words{"sample", "--backend", "engine", "-q", "-e", "instructions,branches", "-o", file.path()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  std::vector<Window> windows;
  std::istringstream text(file.content().value_or(""));
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() != 14) {
      ADD_FAILURE() << line;
      break;
    }
    windows.push_back({cells[4], cells[10], std::stoll(cells[3]), std::stoll(cells[5]), std::stoll(cells[6]),
                       std::stoll(cells[8]), std::stoll(cells[9])});
  }
  return windows;
}

// `workers 1 N TURNS`: a child with N threads in addition to its own; each counts down, with two instructions per turn,
// one of them a branch.
constexpr std::int64_t turns = 400'000, own_work = 20'000;

using Sums = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;  // by process and thread
Sums sums_of(const std::vector<Window>& windows) {
  Sums sums;
  for (const Window& one : windows) sums[{one.pid, one.tid}] += one.instructions;
  return sums;
}

std::vector<std::int64_t> of_workers(const Sums& sums) {
  std::vector<std::int64_t> counts;
  for (const auto& [ids, sum] : sums)
    if (ids.first != ids.second && sum > turns) counts.push_back(sum);
  return counts;
}

class HpctoolDefects : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

// 2: it reads its other six counters one after the other while the code continues to run.
TEST_F(HpctoolDefects, d2_all_counts_of_a_window_are_of_the_same_instructions) {
  int inside = 0;
  for (const Window& one : windows_of({"--every", "10k"}, {WORKERS, "1", "1", std::to_string(turns)})) {
    // In the loop every second instruction is a branch; a window may begin and end with either.
    if (one.trigger == "end" || one.branches < 4990) continue;
    ++inside;
    EXPECT_EQ(one.branches, 5000);
  }
  EXPECT_GE(inside, 2 * turns / 10'000 - 2);
}

// 3: it filters by 16 bytes of the image name.
TEST_F(HpctoolDefects, d3_processes_of_one_name_stay_apart) {
  const auto command = fmt::format("{0} 1 1 {1} & {0} 1 1 {1} & wait", WORKERS, turns);
  const auto counts = of_workers(sums_of(windows_of({"--every", "10k"}, {"/bin/sh", "-c", command})));
  ASSERT_EQ(counts.size(), 2u);
  for (const std::int64_t count : counts) EXPECT_NEAR(count, 2 * turns, own_work);
}

// 4: it has one save area and one flag for all threads and processors.
TEST_F(HpctoolDefects, d4_threads_at_once_do_not_disturb_each_other) {
  const auto counts = of_workers(sums_of(windows_of({"--every", "1k"}, {WORKERS, "1", "4", std::to_string(turns)})));
  ASSERT_EQ(counts.size(), 4u);
  for (const std::int64_t count : counts) EXPECT_NEAR(count, 2 * turns, own_work);
}

// 5: an interrupt of another process reloads its counters.
TEST_F(HpctoolDefects, d5_other_running_programs_are_in_no_window) {
  Running other_program({"/bin/sh", "-c", fmt::format("while :; do {} 1 1 100000; done", WORKERS)});
  const auto windows = windows_of({"--every", "10k"}, {WORKERS, "1", "1", std::to_string(turns)});
  other_program.signal_group(SIGKILL);
  other_program.finish();
  for (const Window& one : windows)
    if (one.trigger != "end") EXPECT_EQ(one.instructions, 10'000);
  const auto counts = of_workers(sums_of(windows));
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_NEAR(counts[0], 2 * turns, own_work);
}

// 6 and 8: the high half of the last window's count comes from another register, and lengths have 32 bits.
TEST_F(HpctoolDefects, d6_d8_a_window_holds_more_than_32_bits) {
  constexpr std::int64_t many = 2'200'000'000;
  std::vector<Window> last;
  for (const Window& one : windows_of({"--every", "1000G"}, {WORKERS, "1", "1", std::to_string(many)}))
    if (one.instructions > many) last.push_back(one);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_GT(last[0].length, std::int64_t{1} << 32);
  EXPECT_EQ(last[0].trigger, "end");
  EXPECT_EQ(last[0].length, last[0].instructions);
  EXPECT_NEAR(last[0].instructions, 2 * many, own_work);
  EXPECT_NEAR(last[0].branches, many, own_work);
}

// 7: it joins halves as signed numbers, 2^32 too few; 10: it writes 0 for a counter that does not count.
TEST(HpctoolDefectsInFiles, d7_d10_what_no_counter_counts_is_absent) {
  std::string text = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";
  for (int i = 0; i < 4; ++i) text += fmt::format("{},0,{},-2147483648,2,3,4\r\n", 50'005 + i, 150 * (i + 1));
  const TemporaryFile runs("runs.csv", text);
  const std::string table = tally({"export", "--format", "table", runs.path()}).out;
  EXPECT_NE(table.find("0 in every row: this counter did not count"), std::string::npos) << table;
  EXPECT_NE(table.find("joined as signed numbers"), std::string::npos) << table;
  EXPECT_NE(table.find("steps of 150"), std::string::npos) << table;
}

}  // namespace
}  // namespace tally::test
