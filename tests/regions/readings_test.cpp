// Counters::read() and measure() under the engine, which counts exactly: their results do not include the reads.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

constexpr std::int64_t work = 3001, loads_of_work = 1000;

// An instruction or two around a call are the caller's own, depending on its compiler.
constexpr std::int64_t leeway = 4;

class Readings : public testing::Test {
 public:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "there is no engine";
#endif
  }

  static std::map<std::string, std::int64_t> counted(const std::string& which) {
    const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=instructions,loads,stores,branches", TALLY_COMMAND,
                                       "stat", "-q", "-e", "instructions", "-o", "/dev/null", "--", READINGS, which})
                                  .finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
    std::map<std::string, std::int64_t> values;
    std::istringstream lines(finished.out);
    std::string event;
    for (std::int64_t value = 0; lines >> event >> value;) values[event.substr(0, event.find(':'))] = value;
    EXPECT_EQ(values.size(), 4u) << finished.out;
    return values;
  }

  static void expect_works(const std::string& which, std::int64_t times) {
    auto values = counted(which);
    EXPECT_NEAR(values["instructions"], times * work, times * leeway) << which;
    EXPECT_NEAR(values["loads"], times * loads_of_work, times * leeway) << which;
    EXPECT_NEAR(values["stores"], 0, times * leeway) << which;
  }
};

TEST_F(Readings, are_the_same_one_after_the_other) {
  for (const auto& [event, value] : counted("twice")) EXPECT_NEAR(value, 0, leeway) << event;
}

TEST_F(Readings, begin_at_zero) {
  // Symbols that the program calls first between the two are resolved then: some thousand instructions of its own.
  for (const auto& [event, value] : counted("first")) EXPECT_LT(value, 10'000) << event;
}

TEST_F(Readings, of_a_function_are_its_counts) { expect_works("measure", 1); }

TEST_F(Readings, exclude_the_cost_of_regions_in_between) {
  expect_works("around", 10);
  expect_works("within", 1);
}

TEST_F(Readings, cost_the_regions_around_them_nothing) {
  // One of them is a move of the readings to their destination.
  auto values = counted("regions");
  EXPECT_NEAR(values["instructions"], 10 * work, 10 * 60);
  EXPECT_NEAR(values["loads"], 10 * loads_of_work, 10 * 20);
}

}  // namespace
}  // namespace tally::test
