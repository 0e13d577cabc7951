// Checks which events of the M1 framework's document the lab's core counts.
#include "programs/lab/arm/arm_core.hpp"

#include <gtest/gtest.h>

#include "tally/hardware/pmu/apple/apple_events.hpp"

namespace tally::lab::arm {
namespace {

TEST(ArmCore, each_event_of_the_m1_document_is_counted_or_has_a_reason) {
  const auto* const profile = pmu::emulated::arm_profile_of("apple-m1");
  ASSERT_TRUE(profile);
  const auto core = make_core(*profile, false);
  int documented = 0, counted = 0;
  for (const pmu::apple::Event& event : pmu::apple::events()) {
    if (event.framework_name.empty()) continue;
    ++documented;
    counted += core->models(event.code);
    EXPECT_NE(core->models(event.code), !core->why_absent(event.code).empty()) << std::hex << int{event.code};
  }
  EXPECT_EQ(documented, 56);
  EXPECT_EQ(counted, 32);
}

}  // namespace
}  // namespace tally::lab::arm
