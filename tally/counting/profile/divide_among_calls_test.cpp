#include "tally/counting/profile/divide_among_calls.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tally::profile {
namespace {

/// Rows of one thread, one for each function: its executed instructions and its modelled count.
void add_rows(result::Profile& profile, std::uint32_t owner, const std::vector<std::pair<int, int>>& rows) {
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    result::ProfileRow row;
    row.owner = owner;
    row.function = i;
    row.executions = rows[i].first;
    profile.rows.push_back(row);
    profile.counts.push_back(rows[i].second);
  }
}

void add_call(result::Profile& profile, std::uint32_t owner, std::uint32_t parent, std::uint32_t callee, int executed) {
  result::ProfileCall call;
  call.owner = owner;
  call.parent = parent;
  call.callee = callee;
  profile.calls.push_back(call);
  profile.self.push_back(executed);
}

std::int64_t sum(const std::vector<std::int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

result::Profile without_rows() {
  result::Profile profile;
  profile.stat.events.resize(1);
  return profile;
}

TEST(DivideAmongCalls, calls_of_a_function_have_its_count) {
  result::Profile profile = without_rows();
  add_rows(profile, 0, {{10, 7}, {30, 100}});
  add_rows(profile, 1, {{10, 50}});
  add_call(profile, 0, result::CodeCall::no_parent, 0, 10);
  add_call(profile, 0, 0, 1, 10);
  add_call(profile, 0, 1, 1, 20);
  add_call(profile, 1, result::CodeCall::no_parent, 0, 10);
  divide_among_calls(profile, {0});
  EXPECT_EQ(profile.self, (std::vector<std::int64_t>{7, 33, 67, 50}));
  EXPECT_EQ(profile.inclusive, (std::vector<std::int64_t>{107, 100, 67, 50}));
}

// Function 2 is jumped to, from one of the calls of function 1: that call executed more than function 1 has.
TEST(DivideAmongCalls, functions_without_calls_are_part_of_those_that_jumped_there) {
  result::Profile profile = without_rows();
  add_rows(profile, 0, {{10, 7}, {30, 100}, {60, 600}});
  add_call(profile, 0, result::CodeCall::no_parent, 0, 10);
  add_call(profile, 0, 0, 1, 90);
  divide_among_calls(profile, {0});
  EXPECT_EQ(profile.self, (std::vector<std::int64_t>{7, 700}));
}

// No call executed more than its function: all calls have a part.
TEST(DivideAmongCalls, sums_are_equal_whatever_the_numbers) {
  result::Profile profile = without_rows();
  add_rows(profile, 0, {{1'000'003, 999'999'999}, {1'000'003, 13}, {0, 1'234'567}});
  for (int i = 0; i < 1000; ++i) add_call(profile, 0, result::CodeCall::no_parent, i % 2 == 0 ? 0 : 1, 1 + i % 7);
  divide_among_calls(profile, {0});
  EXPECT_EQ(sum(profile.self), sum(profile.counts));
  std::int64_t of_function = 0;
  for (std::size_t i = 0; i < profile.calls.size(); i += 2) of_function += profile.self[i];
  EXPECT_NEAR(static_cast<double>(of_function), 999'999'999 + 1'234'567 / 2.0, 2000);
}

}  // namespace
}  // namespace tally::profile
