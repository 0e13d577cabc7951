// Catch2: a test that fails if the code under test executes more instructions than expected.
//
//     g++ -std=c++17 limits_catch2.cpp -ltally -o limits && TALLY_EVENTS=instructions tally stat -- ./limits
#define CATCH_CONFIG_MAIN
#include <numeric>
#include <tally/catch2.hpp>
#include <vector>

namespace {

[[gnu::noinline]] long long sum(const std::vector<int>& numbers) {
  tally_region_begin("sum");
  const long long result = std::accumulate(numbers.begin(), numbers.end(), 0LL);
  tally_region_end("sum");
  return result;
}

TEST_CASE("a sum executes a few instructions for each number") {
  const long long result = sum(std::vector<int>(1000, 2));
  TALLY_EXPECT_AT_MOST("sum", "instructions", 100'000);
  CHECK(result == 2000);
}

// Fails: run it with the argument [.]
TEST_CASE("a sum executes less than one for each number", "[.]") {
  CHECK(sum(std::vector<int>(1000, 2)) == 2000);
  TALLY_ASSERT_AT_MOST("sum", "instructions", 100);
}

}  // namespace
