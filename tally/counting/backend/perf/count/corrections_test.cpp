#include "tally/counting/backend/perf/count/corrections.hpp"

#include <gtest/gtest.h>

#include "tally/hardware/event/name_sources.hpp"

namespace tally::backend::perf {
namespace {

using event::Family;

TEST(Corrections, interrupts_have_a_code_on_processors_that_count_them) {
  EXPECT_EQ(interrupt_code(Family::intel_core, "hsw"), 0x01cbU);
  EXPECT_EQ(interrupt_code(Family::intel_core, "nhm_ex"), std::nullopt) << "there it is a load event";
  EXPECT_EQ(interrupt_code(Family::intel_recent, "icx"), 0x01cbU);
  EXPECT_EQ(interrupt_code(Family::amd, "amd64_fam15h_interlagos"), 0xcfU);
  EXPECT_EQ(interrupt_code(Family::amd_zen, "amd64_fam19h_zen4"), 0x2cU);
  EXPECT_EQ(interrupt_code(Family::arm, "arm_n1"), std::nullopt);
}

// libpfm4 has names for these events on some of the processors.
TEST(Corrections, codes_agree_with_libpfm4) {
  int compared = 0;
  for (const event::pfm::Pmu& pmu : event::pfm::pmus()) {
    for (const char* name : {"HW_INTERRUPTS:RECEIVED", "INTERRUPTS_TAKEN", "INTERRUPT_TAKEN"}) {
      const auto found = event::pfm::encode(pmu, name);
      const auto ours = interrupt_code(pmu.family, pmu.name);
      if (!found || !*found || !ours) continue;
      EXPECT_EQ(*ours, (*found)->encoding.config) << pmu.name;
      ++compared;
    }
  }
#if defined(__x86_64__)
  EXPECT_GT(compared, 5);
#endif
}

Order order_of(const char* events) {
  Order order;
  order.events = *event::parse_lists({events});
  return order;
}

// A processor on which each fault adds `each` instructions and no branches.
Corrections::Measure adds(std::int64_t each) {
  return [each](const linux::PerfEvent& event) {
    const bool branches = event.config == 4;
    return linux::FaultCost{256 + (branches ? 0 : 64 * each), 256, 64};
  };
}

linux::PmuDevice the_core() {
  linux::PmuDevice core;
  core.name = "cpu";
  core.type = 4;
  core.is_core = true;
  return core;
}

TEST(Corrections, no_event_is_added_for_counts_that_need_no_correction) {
  for (const char* events : {"cycles", "instructions:k", "instructions:uk", "conditional-branches", "page-faults"}) {
    const Corrections corrections(order_of(events), {the_core()}, adds(1));
    EXPECT_EQ(corrections.order().events.size(), 1U) << events;
  }
  const Corrections several(order_of("instructions"), {the_core(), the_core()}, adds(1));
  EXPECT_EQ(several.order().events.size(), 1U) << "it is unknown which kind of core took a fault";
}

// The counts of a program with 1,000 instructions and 246 page faults there, in every part of an outcome.
Outcome outcome_of(const Order& order, std::int64_t each) {
  std::vector<EventCount> counts;
  for (const event::Event& event : order.events) {
    const bool faults = event.id == event::Id::user_page_faults;
    const bool instructions = event.id == event::Id::instructions;
    counts.push_back(event_count(event, counted(faults         ? 246
                                                : instructions ? 1000 + 246 * each
                                                               : 1246,
                                                CountSource::pmu("cpu"))));
  }
  Outcome outcome;
  outcome.counts = counts;
  outcome.intervals.push_back({1, Nanoseconds{1}, counts});
  outcome.parts.push_back({"S0", "0", counts});
  outcome.processes.resize(1);
  outcome.processes[0].counts = counts;
  outcome.processes[0].threads.push_back({1, "sh", counts});
  return outcome;
}

// The cycles come first, so that a wrong index shows.
TEST(Corrections, each_fault_is_subtracted_in_every_part_of_the_outcome) {
  for (const std::int64_t each : {0, 1, 2}) {
    Order order = order_of("cycles,branches,instructions");
    std::vector<EventCount> reported;
    order.count()->timing.on_interval = [&](const result::Interval& interval) { reported = interval.counts; };
    const Corrections corrections(order, {the_core()}, adds(each));
    ASSERT_EQ(corrections.order().events.size(), 4u);
    EXPECT_EQ(event::name(corrections.order().events[3]), "page-faults:u");
    Outcome outcome = outcome_of(corrections.order(), each);
    corrections.order().timing().on_interval(outcome.intervals[0]);
    corrections.apply(outcome);
    for (const auto* counts : {&outcome.counts, &outcome.intervals[0].counts, &outcome.parts[0].counts,
                               &outcome.processes[0].counts, &outcome.processes[0].threads[0].counts, &reported}) {
      ASSERT_EQ(counts->size(), 3u) << "the additional events are removed";
      EXPECT_FALSE((*counts)[0].count.correction) << "of cycles";
      EXPECT_EQ((*counts)[1].count.correction, (Correction{1246, 0, 246, std::nullopt})) << "of branches";
      EXPECT_EQ((*counts)[2].count.correction, (Correction{1000, each, 246, std::nullopt})) << "of instructions";
    }
  }
}

TEST(Corrections, costs_that_differ_between_measurements_are_not_subtracted) {
  std::int64_t calls = 0;
  const auto uneven = [&](const linux::PerfEvent&) { return linux::FaultCost{256 + 64 * (++calls % 2), 256, 64}; };
  EXPECT_EQ(Corrections(order_of("instructions"), {the_core()}, uneven).order().events.size(), 1u);
  EXPECT_GT(calls, 2);
  const auto refused = [](const linux::PerfEvent&) { return std::optional<linux::FaultCost>(); };
  EXPECT_EQ(Corrections(order_of("instructions"), {the_core()}, refused).order().events.size(), 1u);
}

TEST(Corrections, a_notice_reports_interrupts_that_cannot_be_counted) {
  Order order = order_of("instructions");
  order.count()->count_interrupts = true;
  linux::PmuDevice arm = the_core();
  arm.name = "armv8_pmuv3";
  const Corrections corrections(order, {arm}, adds(1));
  Outcome outcome = outcome_of(corrections.order(), 1);
  corrections.apply(outcome);
  if (interrupt_event(arm)) {
    EXPECT_EQ(corrections.order().events.size(), 3u);
    EXPECT_TRUE(outcome.notices.empty());
  } else {
    ASSERT_EQ(outcome.notices.size(), 1u);
    EXPECT_EQ(outcome.notices[0].find("interrupts are not counted"), 0u);
  }
}

}  // namespace
}  // namespace tally::backend::perf
