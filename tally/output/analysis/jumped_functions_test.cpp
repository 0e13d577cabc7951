#include "tally/output/analysis/jumped_functions.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tally/output/result/call_sums.hpp"

namespace tally::output {
namespace {

constexpr std::uint32_t outermost = result::CodeCall::no_parent;

/// Builds a profile of one thread with one event.
struct JumpedBuilder {
  result::Profile profile;

  JumpedBuilder() {
    profile.stat.events.resize(1);
    profile.owners.resize(1);
    profile.objects.resize(1);
  }
  std::uint32_t function(const std::string& name, std::int64_t count) {
    const auto number = static_cast<std::uint32_t>(profile.functions.size());
    profile.functions.push_back({.name = name});
    profile.rows.push_back({.function = number});
    profile.counts.push_back(count);
    return number;
  }
  std::uint32_t call(std::uint32_t parent, std::uint32_t caller, std::uint32_t callee, std::int64_t self) {
    profile.calls.push_back({.parent = parent, .caller = caller, .callee = callee, .calls = 1});
    profile.self.push_back(self);
    return static_cast<std::uint32_t>(profile.calls.size() - 1);
  }
  /// The own counts of each stack.
  std::map<std::string, std::int64_t> stacks() {
    profile.inclusive = result::inclusive_counts(profile.calls, profile.self, 1);
    const result::Profile made = with_jumped_functions(profile);
    std::map<std::string, std::int64_t> found;
    for (std::size_t i = 0; i < made.calls.size(); ++i) {
      std::string stack;
      for (std::size_t at = i; at != outermost; at = made.calls[at].parent)
        stack = made.functions[made.calls[at].callee].name + (stack.empty() ? "" : " " + stack);
      found[stack] += made.self[i];
    }
    return found;
  }
};

using JumpedStacks = std::map<std::string, std::int64_t>;

TEST(JumpedFunctions, are_where_their_calls_show_that_they_ran) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), invoke = of.function("invoke", 2), work = of.function("work", 100),
             helper = of.function("helper", 5), other = of.function("other", 300);
  const auto call = of.call(outermost, main, invoke, 102);
  of.call(call, work, helper, 5);
  of.call(outermost, main, other, 300);
  EXPECT_EQ(of.stacks(), (JumpedStacks{{"main", 10},
                                       {"main invoke", 2},
                                       {"main invoke work", 100},
                                       {"main invoke work helper", 5},
                                       {"main other", 300}}));
}

TEST(JumpedFunctions, without_calls_are_where_their_counts_are_left) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), a = of.function("a", 2), b = of.function("b", 3);
  of.function("of a", 50);
  of.function("of b", 70);
  of.call(outermost, main, a, 52);
  of.call(outermost, main, b, 73);
  EXPECT_EQ(of.stacks(),
            (JumpedStacks{{"main", 10}, {"main a", 2}, {"main a of a", 50}, {"main b", 3}, {"main b of b", 70}}));
}

TEST(JumpedFunctions, of_unknown_callers_are_distributed) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), a = of.function("a", 0), b = of.function("b", 0);
  of.function("free", 30);
  of.call(outermost, main, a, 10);
  of.call(outermost, main, b, 20);
  EXPECT_EQ(of.stacks(),
            (JumpedStacks{{"main", 10}, {"main a", 0}, {"main a free", 10}, {"main b", 0}, {"main b free", 20}}));
}

TEST(JumpedFunctions, that_are_also_called_keep_these_calls) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), erase = of.function("erase", 5), free = of.function("free", 30);
  of.call(outermost, main, erase, 15);
  of.call(outermost, main, free, 20);
  EXPECT_EQ(of.stacks(), (JumpedStacks{{"main", 10}, {"main erase", 5}, {"main erase free", 10}, {"main free", 20}}));
}

TEST(JumpedFunctions, linkage_tables_are_none) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), puts = of.function("puts", 20);
  of.function("puts@plt", 1);
  of.call(outermost, main, puts, 21);
  EXPECT_EQ(of.stacks(), (JumpedStacks{{"main", 10}, {"main puts", 21}}));
}

TEST(JumpedFunctions, of_samples_are_in_their_stacks) {
  JumpedBuilder of;
  const auto main = of.function("main", 10), puts = of.function("puts", 25);
  of.call(outermost, main, puts, 20);
  of.profile.sampling.resize(1);
  EXPECT_EQ(of.stacks(), (JumpedStacks{{"puts", 20}}));
}

}  // namespace
}  // namespace tally::output
