#include "tally/counting/backend/perf/encode.hpp"

#include <gtest/gtest.h>

namespace tally::backend::perf {
namespace {

linux::PmuDevice arm() {
  return {.name = "armv8_pmuv3",
          .type = 9,
          .format = {{"event", "config:0-15"}},
          .events = {{"inst_retired", "event=0x0008"}, {"br_return_retired", "event=0x000e"}},
          .cpus = "0-3",
          .is_core = true};
}

// Codes mean events of the machine's processor, which is not the one that the test runs on.
Encoded encoded(const char* text) {
  const event::Sources sources{.root = "/nowhere", .own_pmu = "no such processor", .own_family = event::Family::arm};
  return encode(*event::parse(text, sources), {arm()}).front();
}

TEST(Encode, generic_events_by_the_kernels_numbers_in_their_mode) {
  const Encoded user = encoded("instructions");
  EXPECT_EQ(user.event, (linux::PerfEvent{0, 1, true, false}));
  EXPECT_EQ(user.source, CountSource::pmu("armv8_pmuv3"));
  EXPECT_EQ(encoded("instructions:k").event, (linux::PerfEvent{0, 1, false, true}));
  EXPECT_EQ(encoded("cycles:uk").event, (linux::PerfEvent{0, 0, false, false}));
  EXPECT_EQ(encoded("L1-icache-load-misses").event, (linux::PerfEvent{3, 0x10001, true, false}));
}

TEST(Encode, the_kernels_own_events_are_never_counted_in_user_mode_alone) {
  EXPECT_EQ(encoded("context-switches").event, (linux::PerfEvent{1, 3}));
  EXPECT_EQ(encoded("page-faults:u").event, (linux::PerfEvent{1, 2, true}));
  EXPECT_EQ(encoded("page-faults").source, Source::kernel);
  EXPECT_FALSE(encoded("peak-memory").why_none.empty());
}

TEST(Encode, codes_that_the_pmu_does_not_list_are_doubted) {
  EXPECT_EQ(encoded("returns").event, (linux::PerfEvent{9, 0x0e, true, false}));
  EXPECT_NE(encoded("loads").why_none.find("no event of"), std::string::npos);
  EXPECT_TRUE(encoded("r08").doubt.empty());
  EXPECT_EQ(encoded("r08").event, (linux::PerfEvent{4, 8, true, false}));
  EXPECT_NE(encoded("r21").doubt.find("does not list the code 0x21"), std::string::npos);
}

TEST(Encode, events_of_other_processors_are_reported) {
  // encode() itself asks which processor this is.
  const event::pfm::Pmu* const own = event::own_pmu({});
  const char* const other = own && own->name == "hsw" ? "skl::UOPS_RETIRED:ALL" : "hsw::UOPS_RETIRED:ALL";
  EXPECT_NE(encoded(other).why_none.find("Intel"), std::string::npos);
  EXPECT_NE(encoded("r10000c4").why_none.find("16 bits"), std::string::npos);
  EXPECT_FALSE(encode(*event::parse("instructions"), {}).front().why_none.empty());
}

}  // namespace
}  // namespace tally::backend::perf
