#include "tally/hardware/event/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tally::event {
namespace {

// A PMU with N programmable counters, and fixed counters for one event each.
struct FakePmu {
  std::size_t programmable = 0;
  std::vector<Id> fixed;
};

struct Planned {
  Plan plan;
  int asked = 0;  // number of calls of `fits`
};

Planned planned(const char* text, const FakePmu& pmu) {
  const std::vector<Event> events = *parse_lists({text});
  std::vector<bool> needs;
  for (const Event& event : events) needs.push_back(definition(event.id).kind != Kind::software);
  Planned made;
  made.plan = plan_passes(events, needs, [&](const Pass& pass) {
    ++made.asked;
    std::vector<Id> free = pmu.fixed;
    std::size_t used = 0;
    for (const std::size_t index : pass) {
      EXPECT_TRUE(needs[index]) << "what needs no counter is not asked for";
      const auto own = std::find(free.begin(), free.end(), events[index].id);
      own == free.end() ? static_cast<void>(++used) : static_cast<void>(free.erase(own));
    }
    return used <= pmu.programmable;
  });
  return made;
}

TEST(Plan, events_that_fit_are_in_one_pass_after_one_call) {
  const Planned four = planned("instructions,cycles,branches,branch-misses", {.programmable = 4, .fixed = {}});
  EXPECT_EQ(four.plan, one_pass(4));
  EXPECT_EQ(four.asked, 1);
  EXPECT_EQ(planned("page-faults,task-clock", {}).asked, 0);
}

TEST(Plan, fixed_counters_take_their_own_events_only) {
  const FakePmu pmu{.programmable = 2, .fixed = {Id::instructions, Id::cycles, Id::ref_cycles}};
  EXPECT_EQ(planned("instructions,cycles,ref-cycles,branches,loads", pmu).plan, one_pass(5));
  // The second instructions event needs a programmable counter.
  const Plan plan = planned("instructions,instructions:k,cycles,branches,loads", pmu).plan;
  EXPECT_EQ(plan.passes, (std::vector<Pass>{{0, 1, 2, 3}, {4}}));
}

TEST(Plan, a_later_event_fills_an_earlier_pass) {
  const Plan plan =
      planned("{branches,loads},{stores,branch-misses},cycles,page-faults", {.programmable = 3, .fixed = {}}).plan;
  EXPECT_EQ(plan.passes, (std::vector<Pass>{{0, 1, 4, 5}, {2, 3}}));
}

TEST(Plan, groups_are_never_split) {
  const Plan plan = planned("branches,{loads,stores,page-faults},cycles", {.programmable = 2, .fixed = {}}).plan;
  EXPECT_EQ(plan.passes, (std::vector<Pass>{{0, 4}, {1, 2, 3}}));
  const Plan large = planned("branches,{loads,stores,cycles},instructions", {.programmable = 2, .fixed = {}}).plan;
  EXPECT_EQ(large.too_large, (std::vector<Pass>{{1, 2, 3}}));
  EXPECT_EQ(large.passes, (std::vector<Pass>{{0, 4}}));
}

TEST(Plan, without_free_counters_opening_each_event_reports_the_reason) {
  EXPECT_EQ(planned("branches,loads", {}).plan, one_pass(2));
}

TEST(Plan, every_event_is_in_exactly_one_pass) {
  for (std::size_t counters = 1; counters < 12; ++counters) {
    const Plan plan = planned(
                          "instructions,cycles,{branches,loads},stores,page-faults,calls,returns,{branch-misses},"
                          "cache-misses,cache-references,ref-cycles",
                          {.programmable = counters, .fixed = {Id::cycles}})
                          .plan;
    Pass all;
    for (const std::vector<Pass>& passes : {plan.passes, plan.too_large}) {
      for (const Pass& pass : passes) all.insert(all.end(), pass.begin(), pass.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, one_pass(12).passes.front()) << counters;
    EXPECT_EQ(plan.too_large.empty(), counters > 1);
  }
}

}  // namespace
}  // namespace tally::event
