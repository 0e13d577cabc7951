// Processes and threads that a program starts, by a PMU.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

std::int64_t instructions_of(int processes, int threads, std::int64_t turns) {
  return counted({"-e", "instructions"},
                 {WORKERS, std::to_string(processes), std::to_string(threads), std::to_string(turns)})
      .value("instructions:u");
}

// The same two instructions for each additional turn of every worker. Threads that wait for each other differ by some
// hundred.
void expect_all(int processes, int threads) {
  const std::int64_t workers = std::int64_t{processes} * threads;
  const std::int64_t more = instructions_of(processes, threads, many) - instructions_of(processes, threads, few);
  EXPECT_NEAR(static_cast<double>(more), static_cast<double>(workers * 2 * (many - few)),
              static_cast<double>(workers) * (is_guest() ? 2000 : 10000))
      << processes << " processes of " << threads << " threads";
}

TEST(Descendants, threads_are_counted_with_their_program) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  expect_all(1, 1);
  expect_all(1, 4);
}

TEST(Descendants, forks_and_their_threads_are_counted_with_their_program) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  expect_all(3, 1);
  expect_all(3, 2);
}

// All workers do the same work, whichever waits for which.
TEST(Descendants, each_thread_by_itself_to_the_instruction) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  const test::Words workers{WORKERS, "2", "3", std::to_string(many)};
  const Counted apart = counted({"-e", "{instructions,cycles}", "--per-thread", "--per-process"}, workers);
  ASSERT_EQ(apart.processes.size(), 3u);
  ASSERT_EQ(apart.threads.size(), 9u);
  std::int64_t sum = 0;
  int busy = 0;
  for (const auto& rows : apart.threads) {
    const std::int64_t value = rows.at("instructions:u").value.value_or(-1);
    EXPECT_EQ(rows.at("instructions:u").trust, "counted");
    sum += value;
    if (value < 2 * many) continue;
    ++busy;
    EXPECT_LT(value, 2 * many + 10000);
  }
  EXPECT_EQ(busy, 6);
  EXPECT_EQ(sum, apart.value("instructions:u"));
  if (!is_guest()) return;
  const Counted together = counted({"-e", "{instructions,cycles}"}, workers);
  EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(together.value("instructions:u")), 10000);
}

// A process that continues after the program has ended: 420 ms of the guest's time.
TEST(Descendants, that_outlive_the_program_are_counted_with_wait_all) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  constexpr std::int64_t turns = 210000000;
  const std::string leaves_one = "( (while kill -0 $$ 2>/dev/null; do :; done; exec " + known("countdown", turns).path +
                                 ") >/dev/null 2>&1 & ); exit 4";
  for (const test::Words& more : {test::Words{}, test::Words{"--per-process"}}) {
    test::Words options{"--wait-all", "-e", "instructions"};
    options.insert(options.end(), more.begin(), more.end());
    const Counted all = counted(options, {"sh", "-c", leaves_one});
    EXPECT_EQ(all.code, 4);
    EXPECT_EQ(all.rows.at("instructions:u").trust, "counted") << all.rows.at("instructions:u").reason;
    EXPECT_GE(all.value("instructions:u"), 2 * turns);
    options.erase(options.begin());
    const Counted part = counted(options, {"sh", "-c", leaves_one});
    EXPECT_EQ(part.code, 4);
    EXPECT_EQ(part.rows.at("instructions:u").trust, "partial");
    EXPECT_LT(part.value("instructions:u"), 2 * turns);
    EXPECT_GT(part.value("instructions:u"), 0);
  }
}

// An emulated processor's count includes the other's: no instruction may be missing, and no worker counted twice on
// each.
TEST(Descendants, threads_on_two_processors_are_counted_on_both) {
  TALLY_NEEDS_PMU();
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "there is one processor";
  constexpr std::int64_t all = std::int64_t{4} * 2 * many;
  const std::int64_t value = instructions_of(1, 4, many);
  EXPECT_GE(value, all);
  EXPECT_LT(value, 2 * all + many);
}

}  // namespace
}  // namespace tally::hardware_test
