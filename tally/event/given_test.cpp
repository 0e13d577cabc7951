#include "tally/event/given.hpp"

#include <gtest/gtest.h>

#include "tally/event/event.hpp"

namespace tally::event {
namespace {

// In the form of intel/perfmon, written by hand.
constexpr const char* vendors = R"({"Header": {"Info": "made up"}, "Events": [
  {"EventCode": "0xC4", "UMask": "0x20", "EventName": "MADE_UP.TAKEN", "BriefDescription": "taken, by a made-up core",
   "Counter": "0,1,2,3", "CounterMask": "0", "Invert": "0", "EdgeDetect": "0", "TakenAlone": "0", "Errata": "null"},
  {"EventCode": "0xB7,0xBB", "UMask": "0x01", "EventName": "MADE_UP.RESPONSE", "MSRIndex": "0x1a6,0x1a7",
   "MSRValue": "0x10003", "CounterMask": "2", "Invert": "1", "EdgeDetect": "1", "TakenAlone": "1", "Errata": "MU1"},
  {"EventCode": "0x10", "UMask": "0x00", "EventName": "MADE_UP.UNCORE", "Unit": "CBO"}]})";

// The kernel's copies are arrays, and may lack fields; Arm's have no unit masks.
constexpr const char* kernels = R"([
  {"EventCode": "0x1C3", "EventName": "MADE_UP_LONG", "PublicDescription": "a code of its own"},
  {"ArchStdEvent": "L1D_CACHE"}, {"MetricName": "IPC", "MetricExpr": "a / b"}])";

TEST(Given, the_vendors_form_is_read) {
  const auto table = parse_given(vendors, "made-up.json");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->events.size(), 2U);
  EXPECT_EQ(table->events[0], (GivenEvent{"MADE_UP.TAKEN", "taken, by a made-up core", "0,1,2,3", "", 0x20C4, 0}));
  EXPECT_EQ(table->events[1].config, 0x02840000ULL | 0x01B7);
  EXPECT_EQ(table->events[1].config1, 0x10003U);
  EXPECT_EQ(table->events[1].remarks, "it has to be counted alone; errata: MU1");
  EXPECT_EQ(table->provenance, "the vendor's");
  EXPECT_EQ(table->left_out, std::vector<std::string>{"1 entry left out of made-up.json: they are not the core's"});
}

TEST(Given, the_kernels_form_is_read) {
  const auto table = parse_given(kernels, "kernel.json");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->events.size(), 1U);
  EXPECT_EQ(table->events[0].config, 0x1C3U);
  EXPECT_EQ(table->events[0].what, "a code of its own");
}

TEST(Given, names_are_events) {
  const auto table = parse_given(vendors, "made-up.json");
  ASSERT_TRUE(table);
  Sources sources;
  sources.given = &*table;
  for (const char* text : {"MADE_UP.TAKEN:k", "made_up.taken:k", "MADE_UP:TAKEN:k"}) {
    const auto event = parse(text, sources);
    ASSERT_TRUE(event) << text << event.error().message;
    EXPECT_EQ(event->encoding->config, 0x20C4U) << text;
    EXPECT_EQ(event->mode, Mode::kernel) << text;
    EXPECT_EQ(name(*event), "MADE_UP.TAKEN:k") << text;
  }
  EXPECT_FALSE(parse("MADE_UP.TAKEN:q", sources));
  EXPECT_FALSE(parse("MADE_UP.TAKEN"));  // without the table
}

TEST(Given, what_is_no_table_is_told) {
  for (const char* text :
       {"", "{", "{}", "3", "[3]", R"({"Events": 3})", R"([{"EventName":"A","EventCode":"0xzz"}])"}) {
    const auto table = parse_given(text, "t.json");
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, Code::bad_usage) << text;
    EXPECT_NE(table.error().message.find("'t.json' is no table of events: "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tally::event
