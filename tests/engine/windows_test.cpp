// Windows under the engine: each holds exactly N instructions, ends at the same instruction as in the stepper, and has
// the stepper's counts.
#include <fmt/format.h>

#include <algorithm>

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
  ASSERT_FALSE(stepped.empty());
  for (const int size : block_sizes()) expect_windows(command, stepped, 97, size);
  for (const std::uint64_t every : {1, 511}) expect_windows(command, stepped, every, 0);
  if (!test::is_full_run()) return;
  for (const std::uint64_t every : {2, 97, 10'000}) expect_windows(command, stepped, every, 0);
}

INSTANTIATE_TEST_SUITE_P(engine, WindowsTest,
                         testing::Values("branches", "returns", "loops", "flags", "addressing", "atomics", "gather",
                                         "stack_forms", "strings", "fault_repair", "queued", "nested", "clone3",
                                         "bad_places", "alternate_stack", "leave_handler", "state", "red_zone",
                                         "rewrite", "threads"),
                         [](const auto& one) { return std::string(one.param); });

/// All windows together, including shorter ones.
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

/// A program that forks and executes: an executed program begins its windows again, so they are not the stepper's.
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

/// Signals at any moment, all code discarded again and again: the work differs from run to run, but windows are full.
TEST(Windows, are_full_whatever_happens) {
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

// --- from one address to another ------------------------------------------------------------------------------------

/// The first row at which a thread reaches an address, from a row on; the end of the thread if it does not.
std::size_t first_at(const WindowRows& thread, std::uint64_t address, std::size_t from = 0) {
  while (from < thread.size() && thread[from].address != address) ++from;
  return from;
}

/// Windows of a part of a thread, from rows of one instruction each; the rest at its end is the last window.
WindowRows between(const WindowRows& thread, std::size_t from, std::size_t to, std::uint64_t every) {
  const WindowRows part(thread.begin() + static_cast<std::ptrdiff_t>(from),
                        thread.begin() + static_cast<std::ptrdiff_t>(to));
  WindowRows windows = joined(part, every);
  WindowRow last;
  for (std::size_t i = windows.size() * every; i < part.size(); ++i) last.counts += part[i].counts;
  if (last.counts.instructions != 0) windows.push_back(last);
  return windows;
}

void expect_bounded(Command command, std::uint64_t start, std::uint64_t stop, std::vector<WindowRows> expected,
                    std::uint64_t every, int block_size) {
  SCOPED_TRACE(testing::Message() << command.words[0] << ": every " << every << ", block size " << block_size
                                  << std::hex << ", from " << start << " to " << stop);
  command.options.insert(command.options.end(), {"--start-at", fmt::format("{:#x}", start)});
  if (stop != 0) command.options.insert(command.options.end(), {"--stop-at", fmt::format("{:#x}", stop)});
  Outcome outcome;
  const auto counted = windows_counted(command, every, block_size, true, outcome);
  expected = sorted(std::move(expected));
  ASSERT_EQ(counted.size(), expected.size()) << outcome.err;
  for (std::size_t thread = 0; thread < expected.size(); ++thread) {
    EXPECT_EQ(counted[thread].size(), expected[thread].size());
    for (std::size_t i = 0; i < std::min(counted[thread].size(), expected[thread].size()); ++i) {
      const WindowRow &is = counted[thread][i], &should = expected[thread][i];
      ASSERT_EQ(is.address, should.address) << "window " << i + 1 << " of " << expected[thread].size();
      ASSERT_TRUE(is.counts == should.counts) << "window " << i + 1 << ", the engine:\n"
                                              << describe(is.counts) << "expected:\n"
                                              << describe(should.counts);
    }
  }
}

class BoundedWindowsTest : public testing::TestWithParam<const char*> {};

TEST_P(BoundedWindowsTest, start_and_stop_where_the_stepper_is) {
  const Command command = command_of(GetParam());
  const auto stepped = windows_stepped(command, 1);
  ASSERT_EQ(stepped.size(), 1u);
  const WindowRows& thread = stepped.front();
  // Locations in the run, and the way to find them: any instruction may be one.
  const std::size_t n = thread.size();
  for (const auto& [a, b] : {std::pair{n / 3, n / 2}, {n / 7, n * 6 / 7}, {std::size_t{0}, n / 5}, {n / 2, n / 2}}) {
    const std::uint64_t start = thread[a].address, stop = thread[b].address;
    const std::size_t from = first_at(thread, start), to = first_at(thread, stop, from + 1);
    expect_bounded(command, start, stop, {between(thread, from, to, 1)}, 1, 0);
    for (const int size : {0, 1, reoptimized})
      expect_bounded(command, start, stop, {between(thread, from, to, 97)}, 97, size);
    expect_bounded(command, start, 0, {between(thread, from, n, 511)}, 511, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, BoundedWindowsTest,
                         testing::Values("branches", "returns", "loops", "flags", "strings", "fault_repair", "queued",
                                         "nested", "alternate_stack", "leave_handler", "rewrite"),
                         [](const auto& one) { return std::string(one.param); });

/// The only thread that reaches the program's entry point.
std::size_t main_of(const std::vector<WindowRows>& threads) {
  const auto is_alone = [&](const WindowRows& thread) {
    return std::none_of(threads.begin(), threads.end(), [&](const WindowRows& other) {
      return &other != &thread && first_at(other, thread.front().address) < other.size();
    });
  };
  return static_cast<std::size_t>(std::find_if(threads.begin(), threads.end(), is_alone) - threads.begin());
}

TEST(BoundedWindows, of_a_thread_that_counts_go_on_in_what_it_starts) {
  const Command command = command_of("threads");
  const auto stepped = windows_stepped(command, 1);
  const std::size_t main = main_of(stepped);
  ASSERT_LT(main, stepped.size());
  std::vector<WindowRows> expected;
  for (std::size_t i = 0; i < stepped.size(); ++i)
    expected.push_back(between(stepped[i], i == main ? 3 : 0, stepped[i].size(), 7));
  expect_bounded(command, stepped[main][3].address, 0, expected, 7, 0);
}

TEST(BoundedWindows, begin_and_end_at_each_threads_own_arrival) {
  const Command command = command_of("threads");
  const auto stepped = windows_stepped(command, 1);
  const std::size_t main = main_of(stepped);
  ASSERT_LT(main, stepped.size());
  // In the loop of the other threads.
  const WindowRows& other = stepped[main == 0 ? 1 : 0];
  const std::uint64_t start = other[20].address, stop = other[other.size() - 2].address;
  ASSERT_EQ(first_at(stepped[main], start), stepped[main].size());
  for (const std::uint64_t every : {1, 7}) {
    std::vector<WindowRows> expected;
    for (std::size_t i = 0; i < stepped.size(); ++i) {
      const std::size_t from = first_at(stepped[i], start);
      if (i != main) expected.push_back(between(stepped[i], from, first_at(stepped[i], stop, from + 1), every));
    }
    expect_bounded(command, start, stop, expected, every, 0);
  }
}

}  // namespace
}  // namespace tally::engine_test
