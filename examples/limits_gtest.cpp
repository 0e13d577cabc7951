// GoogleTest: a test that fails if the code under test executes more instructions than expected.
//
//     g++ -std=c++17 limits_gtest.cpp -ltally -lgtest -lgtest_main -o limits && TALLY_EVENTS=instructions tally stat --
//     ./limits
#include <numeric>
#include <tally/gtest.hpp>
#include <vector>

namespace {

[[gnu::noinline]] long long sum(const std::vector<int>& numbers) {
  tally_region_begin("sum");
  const long long result = std::accumulate(numbers.begin(), numbers.end(), 0LL);
  tally_region_end("sum");
  return result;
}

TEST(Sum, executes_a_few_instructions_for_each_number) {
  const std::vector<int> numbers(1000, 2);
  EXPECT_EQ(sum(numbers), 2000);
  TALLY_EXPECT_AT_MOST("sum", "instructions", 100'000);
}

// Fails: run it with --gtest_also_run_disabled_tests.
TEST(Sum, DISABLED_executes_less_than_one_for_each_number) {
  EXPECT_EQ(sum(std::vector<int>(1000, 2)), 2000);
  TALLY_ASSERT_AT_MOST("sum", "instructions", 100);
}

}  // namespace
