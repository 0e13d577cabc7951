// Processes and threads that a program starts, by a PMU.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

constexpr std::int64_t few = 1000;
constexpr std::int64_t many = 1000000;

std::int64_t instructions_of(int processes, int threads, std::int64_t turns) {
  return counted({"-e", "instructions"},
                 {WORKERS, std::to_string(processes), std::to_string(threads), std::to_string(turns)})
      .value("instructions:u");
}

// Of every worker the same two instructions for each turn more. Threads that wait for each other differ by some
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
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts have those of the other processors";
  expect_all(1, 1);
  expect_all(1, 4);
}

TEST(Descendants, forks_and_their_threads_are_counted_with_their_program) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts have those of the other processors";
  expect_all(3, 1);
  expect_all(3, 2);
}

// An emulated processor's count has the other's, too: nothing may be missing, and no worker twice on each.
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
