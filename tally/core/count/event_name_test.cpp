#include "tally/core/count/event_name.hpp"

#include <gtest/gtest.h>

namespace tally {
namespace {

TEST(EventName, splits_and_joins_every_mode) {
  EXPECT_EQ(split_event_name("instructions:u"), (EventName{"instructions", Mode::user}));
  EXPECT_EQ(split_event_name("cycles:k"), (EventName{"cycles", Mode::kernel}));
  EXPECT_EQ(split_event_name("r01c2:uk"), (EventName{"r01c2", Mode::both}));
  EXPECT_EQ(split_event_name("task-clock"), (EventName{"task-clock", std::nullopt}));
  for (const char* text : {"instructions:u", "cycles:k", "r01c2:uk", "task-clock", "page-faults:u", ""})
    EXPECT_EQ(split_event_name(text).text(), text);
}

TEST(EventName, other_endings_are_part_of_the_base) {
  for (const char* text : {"UOPS_RETIRED:ALL", "hsw::UOPS_RETIRED", "a:x", "a:", ":u", ":", "a:U"}) {
    EXPECT_EQ(split_event_name(text), (EventName{text, std::nullopt}));
    EXPECT_EQ(split_event_name(text).text(), text);
  }
  EXPECT_EQ(split_event_name("hsw::UOPS_RETIRED:ALL:k"), (EventName{"hsw::UOPS_RETIRED:ALL", Mode::kernel}));
}

TEST(EventName, reports_whether_a_text_states_its_mode) {
  for (const char* text : {"instructions:u", "loads:ku", "cpu/event=0xc4/k", "cpu/event=0xc4/:u"})
    EXPECT_TRUE(states_mode(text)) << text;
  for (const char* text : {"instructions", "cpu/event=0xc4/", "UOPS_RETIRED:ALL", "loads:", ""})
    EXPECT_FALSE(states_mode(text)) << text;
}

}  // namespace
}  // namespace tally
