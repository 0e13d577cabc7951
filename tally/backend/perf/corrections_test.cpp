#include "tally/backend/perf/corrections.hpp"

#include <gtest/gtest.h>

#include "tally/event/sources.hpp"

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

// libpfm4 has names for them on some of these processors.
TEST(Corrections, the_codes_are_those_that_libpfm4_knows) {
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

Request request_of(const char* events) {
  Request request;
  request.events = *event::parse_lists({events});
  return request;
}

TEST(Corrections, nothing_is_counted_beside_what_needs_none) {
  linux::PmuDevice core;
  core.name = "cpu";
  core.type = 4;
  core.is_core = true;
  for (const char* events : {"cycles", "instructions:k", "instructions:uk", "conditional-branches", "page-faults"}) {
    const Corrections corrections(request_of(events), {core});
    EXPECT_EQ(corrections.request().events.size(), 1U) << events;
  }
  const Corrections several(request_of("instructions"), {core, core});
  EXPECT_EQ(several.request().events.size(), 1U) << "of which kind of core a fault was is not known";
}

TEST(Corrections, what_was_asked_for_comes_back_alone) {
  const Request request = request_of("instructions,cycles");
  const Corrections corrections(request, {});
  Outcome outcome;
  for (const event::Event& event : corrections.request().events) {
    outcome.counts.push_back(event_count(event, counted(1, "cpu")));
  }
  corrections.apply(outcome);
  EXPECT_EQ(outcome.counts.size(), request.events.size());
}

}  // namespace
}  // namespace tally::backend::perf
