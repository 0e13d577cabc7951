// Windows under the engine: each holds exactly so many instructions, ends at the one where the stepper is then, and has
// the stepper's counts.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Command command_of(const std::string& name, const std::vector<std::string>& arguments = {}) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/" + name};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  return command;
}

/// Full windows of `every` rows of one instruction each.
WindowRows joined(const WindowRows& instructions, std::uint64_t every) {
  WindowRows windows;
  WindowRow window;
  for (const WindowRow& one : instructions) {
    window.counts += one.counts;
    if (window.counts.instructions < every) continue;
    window.address = one.address;
    windows.push_back(window);
    window = {};
  }
  return windows;
}

void expect_windows(const Command& command, const std::vector<WindowRows>& stepped, std::uint64_t every,
                    int block_size) {
  SCOPED_TRACE(testing::Message() << "every " << every << ", block size " << block_size);
  Outcome outcome;
  const auto counted = windows_counted(command, every, block_size, false, outcome);
  std::vector<WindowRows> all;
  for (const WindowRows& thread : stepped)
    if (WindowRows windows = joined(thread, every); !windows.empty()) all.push_back(std::move(windows));
  all = sorted(std::move(all));
  ASSERT_EQ(counted.size(), all.size()) << outcome.err;
  for (std::size_t thread = 0; thread < all.size(); ++thread) {
    EXPECT_EQ(counted[thread].size(), all[thread].size());
    for (std::size_t i = 0; i < std::min(all[thread].size(), counted[thread].size()); ++i) {
      const WindowRow &is = counted[thread][i], &should = all[thread][i];
      ASSERT_EQ(is.counts.instructions, every) << "window " << i + 1;
      ASSERT_EQ(is.address, should.address) << "window " << i + 1;
      ASSERT_TRUE(is.counts == should.counts) << "window " << i + 1 << ", the engine:\n"
                                              << describe(is.counts) << "expected:\n"
                                              << describe(should.counts);
    }
  }
}

class WindowsTest : public testing::TestWithParam<const char*> {};

TEST_P(WindowsTest, are_the_steppers) {
  const Command command = command_of(GetParam());
  const auto stepped = windows_stepped(command, 1);
  for (const int size : {0, 1, 64, made_anew}) expect_windows(command, stepped, 97, size);
  for (const std::uint64_t every : {1, 2, 511, 10'000}) expect_windows(command, stepped, every, 0);
}

INSTANTIATE_TEST_SUITE_P(engine, WindowsTest,
                         testing::Values("branches", "returns", "loops", "flags", "addressing", "atomics", "gather",
                                         "stack_forms", "strings", "fault_repair", "queued", "nested", "clone3",
                                         "bad_places", "alternate_stack", "leave_handler", "state", "red_zone",
                                         "rewrite", "threads"),
                         [](const auto& one) { return std::string(one.param); });

/// All windows together, cut ones too.
Counts sum_of(const std::vector<WindowRows>& threads) {
  Counts sum;
  for (const WindowRows& rows : threads)
    for (const WindowRow& row : rows) sum += row.counts;
  return sum;
}

void expect_full(const std::vector<WindowRows>& threads, std::uint64_t every) {
  for (const WindowRows& rows : threads)
    for (const WindowRow& row : rows) {
      if (row.address != 0) {
        ASSERT_EQ(row.counts.instructions, every);
      } else {
        ASSERT_LE(row.counts.instructions, every);
      }
    }
}

/// What forks and executes: a program that is executed begins its windows again, so they are not the stepper's.
TEST(Windows, of_many_processes_are_full_and_sum_up) {
  for (const char* name : {"processes", "clone3"}) {
    const Command command = command_of(name);
    const Counted stepped = run_stepped(command);
    for (const std::uint64_t every : {1, 7, 30}) {
      Outcome outcome;
      const auto threads = windows_counted(command, every, 0, true, outcome);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      expect_full(threads, every);
      expect_counts(sum_of(threads), stepped.counts);
    }
  }
}

/// Signals at any moment, all code thrown away again and again: what is done differs from run to run, the windows are
/// full all the same.
TEST(Windows, are_full_whatever_comes) {
  for (const char* name : {"rep_timer", "block_timer", "exits_timer", "thread_signals", "restarts", "fault_skip"})
    for (const std::uint64_t every : {1, 97, 10'000}) {
      SCOPED_TRACE(testing::Message() << name << ", every " << every);
      Command command = command_of(name);
      if (every == 97) command.options = {"--cache-limit", "20"};
      Outcome outcome;
      const auto threads = windows_counted(command, every, 0, true, outcome);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      expect_full(threads, every);
    }
}

}  // namespace
}  // namespace tally::engine_test
