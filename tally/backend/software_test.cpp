#include "tally/backend/software.hpp"

#include <gtest/gtest.h>

#include "tally/backend/backend.hpp"

namespace tally::backend {
namespace {

linux::Usage usage() {
  linux::Usage usage;
  usage.user = Nanoseconds{1};
  usage.system = Nanoseconds{2};
  usage.minor_faults = 4;
  usage.major_faults = 8;
  usage.voluntary_switches = 16;
  usage.involuntary_switches = 32;
  usage.peak_rss_bytes = 64;
  return usage;
}

std::optional<std::int64_t> value(const char* event) {
  return software_count(*event::parse(event), usage(), Nanoseconds{128}).value;
}

TEST(SoftwareCount, each_event_has_its_own_figure) {
  EXPECT_EQ(value("user_time"), 1);
  EXPECT_EQ(value("system_time"), 2);
  EXPECT_EQ(value("minor-faults"), 4);
  EXPECT_EQ(value("major-faults"), 8);
  EXPECT_EQ(value("page-faults"), 12);
  EXPECT_EQ(value("voluntary-switches"), 16);
  EXPECT_EQ(value("involuntary-switches"), 32);
  EXPECT_EQ(value("context-switches"), 48);
  EXPECT_EQ(value("peak-memory"), 64);
  EXPECT_EQ(value("duration_time"), 128);
}

TEST(SoftwareCount, every_software_event_has_a_value_and_a_source_and_no_hardware_event_has) {
  for (const event::Definition& line : event::all()) {
    const Count count = software_count(*event::parse(line.name), usage(), Nanoseconds{128});
    EXPECT_EQ(count.value.has_value(), line.kind == event::Kind::software) << line.name;
    EXPECT_EQ(count.source.empty(), line.kind != event::Kind::software) << line.name;
  }
}

TEST(SoftwareCount, a_peak_below_the_floor_is_partial) {
  linux::Usage hidden = usage();
  hidden.peak_floor_bytes = 64;
  const Count count = software_count(*event::parse("peak-memory"), hidden, Nanoseconds{0});
  EXPECT_EQ(count.trust, Trust::partial);
  EXPECT_EQ(count.value, 64);
  EXPECT_NE(count.reason.find("64 B"), std::string::npos);
}

TEST(AllSoftware, one_hardware_event_decides) {
  EXPECT_TRUE(all_software(*event::parse_lists({"page-faults,user_time"})));
  EXPECT_FALSE(all_software(*event::parse_lists({"page-faults,loads"})));
  EXPECT_FALSE(all_software(event::default_set()));
}

TEST(EventCount, has_the_name_as_asked_and_in_full) {
  const EventCount count = event_count(*event::parse("loads"), exact(1, "engine"));
  EXPECT_EQ(count.event, "loads");
  EXPECT_EQ(count.name, "loads:u");
  EXPECT_EQ(event_count(*event::parse("peak-memory"), absent("")).unit, Unit::bytes);
}

}  // namespace
}  // namespace tally::backend
