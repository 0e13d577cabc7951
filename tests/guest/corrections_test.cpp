// Counts that page faults add to those of a PMU, and their subtraction.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/count/correction.hpp"
#include "tally/linux/perf/fault_cost.hpp"
#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

constexpr linux::PerfEvent instructions{linux::perf_type_hardware, 1, true};
constexpr int pages = 64;

TEST(Corrections, page_faults_are_made_and_counted) {
  TALLY_NEEDS_PMU();
  const auto cost = linux::count_page_faults(instructions);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->faults, pages);
  EXPECT_GT(cost->warm, 3 * pages) << "a store, an addition and a branch for each page";
  const auto each = added_by_each(cost->cold, cost->warm, cost->faults);
  if (!is_guest()) GTEST_SKIP() << "the counts that a fault adds differ between processors";
  // The code between two readings is not always the same.
  EXPECT_NEAR(static_cast<double>(cost->cold), static_cast<double>(cost->warm), 8);
  EXPECT_EQ(each, 0);
}

TEST(Corrections, do_not_exist_for_an_event_that_cannot_be_counted) {
  EXPECT_FALSE(linux::count_page_faults({linux::perf_type_hardware, 0xFFFF, true}));
}

// If a fault adds nothing, the correction changes nothing: whatever a real processor adds must be subtracted.
TEST(Corrections, a_program_that_faults_is_corrected_to_its_own_instructions) {
  TALLY_NEEDS_PMU();
  const KnownProgram touch = known("touch", 1000);
  const Counted result = counted({"--corrections", "-e", "instructions,cycles"}, {touch.path});
  const Row& row = result.rows.at("instructions:u");
  ASSERT_TRUE(row.corrected) << result.messages;
  const auto known_count = static_cast<std::int64_t>(touch.counts.instructions);
  EXPECT_GE(*row.corrected, known_count - 64);
  EXPECT_LE(*row.corrected, known_count + 64 + (is_guest() ? 0 : 200)) << "interrupts, which nothing counts here";
  EXPECT_GE(row.page_faults, 1000) << "one page each, and those of the program's start";
  EXPECT_EQ(row.repeats, "correctable");
  EXPECT_EQ(result.rows.at("cycles:u").repeats, "speculative");
  EXPECT_FALSE(result.rows.at("cycles:u").corrected);
  if (!is_guest()) return;
  EXPECT_EQ(row.corrected, row.value);
  EXPECT_EQ(result.rows.size(), 2U) << "page faults counted for the correction are not shown";
}

TEST(Corrections, are_reported_on_request) {
  TALLY_NEEDS_PMU();
  if (!is_guest()) GTEST_SKIP() << "the counts that a fault adds differ between processors";
  const test::Finished finished =
      test::tally({"stat", "--corrections", "-e", "instructions", "--", known("touch", 1000).path});
  EXPECT_NE(finished.err.find("page faults add nothing to instructions:u on this machine"), std::string::npos)
      << finished.err;
  EXPECT_NE(finished.err.find("interrupts are not counted"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::hardware_test
