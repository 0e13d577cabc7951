#include "tally/hardware/event/given.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tally/hardware/event/event.hpp"

namespace tally::event {
namespace {

// The format of intel/perfmon, written by hand.
constexpr const char* vendors = R"({"Header": {"Info": "made up"}, "Events": [
  {"EventCode": "0xC4", "UMask": "0x20", "EventName": "MADE_UP.TAKEN", "BriefDescription": "taken, by a made-up core",
   "Counter": "0,1,2,3", "CounterMask": "0", "Invert": "0", "EdgeDetect": "0", "TakenAlone": "0", "Errata": "null"},
  {"EventCode": "0xB7,0xBB", "UMask": "0x01", "EventName": "MADE_UP.RESPONSE", "MSRIndex": "0x1a6,0x1a7",
   "MSRValue": "0x10003", "CounterMask": "2", "Invert": "1", "EdgeDetect": "1", "TakenAlone": "1", "Errata": "MU1"},
  {"EventCode": "0x10", "UMask": "0x00", "EventName": "MADE_UP.UNCORE", "Unit": "CBO"}]})";

// The kernel's copies are arrays and may lack fields; Arm's have no unit masks.
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
  EXPECT_EQ(table->events[1].remarks, "it must be counted alone; errata: MU1");
  EXPECT_EQ(table->provenance, "the vendor's");
  EXPECT_EQ(table->left_out, std::vector<std::string>{"1 entry skipped in made-up.json: they are not core events"});
}

TEST(Given, the_kernels_form_is_read) {
  const auto table = parse_given(kernels, "kernel.json");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->events.size(), 1U);
  EXPECT_EQ(table->events[0].config, 0x1C3U);
  EXPECT_EQ(table->events[0].what, "a code of its own");
}

// intel/perfmon and the kernel's copies give events of fixed counters code 0 or none.
TEST(Given, events_of_fixed_counters_have_the_codes_that_the_kernel_gives_to_these) {
  const auto table = parse_given(R"([
    {"EventName": "INST_RETIRED.ANY", "EventCode": "0x00", "UMask": "0x01", "Counter": "Fixed counter 0"},
    {"EventName": "CPU_CLK_UNHALTED.THREAD", "UMask": "0x2", "Counter": "Fixed counter 1"},
    {"EventName": "CPU_CLK_UNHALTED.REF_TSC", "UMask": "0x3", "Counter": "Fixed counter 2"},
    {"EventName": "TOPDOWN.SLOTS", "UMask": "0x4", "Counter": "Fixed counter 3"},
    {"EventName": "CPU_CLK_UNHALTED.THREAD", "EventCode": "0x3C", "UMask": "0x0", "Counter": "0,1,2,3"}])",
                                 "t.json");
  ASSERT_TRUE(table) << table.error().message;
  std::vector<std::uint64_t> configs;
  for (const GivenEvent& one : table->events) configs.push_back(one.config);
  EXPECT_EQ(configs, (std::vector<std::uint64_t>{0xC0, 0x3C, 0x0300, 0x0400, 0x3C}));
}

TEST(Given, a_code_of_12_bits_without_a_unit_mask_is_amds_among_others_with_one) {
  const auto table = parse_given(
      R"([{"EventName": "a", "EventCode": "0x1c7"}, {"EventName": "b", "EventCode": "0xc0", "UMask": "0x01"}])", "t");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->events[0].config, 0x1'0000'00C7U);
}

TEST(Given, arms_entries_are_completed_from_the_table_of_common_events) {
  const std::vector<std::string> common{
      R"([{"EventName": "L1D_CACHE", "EventCode": "0x04", "BriefDescription": "accesses"}])"};
  const auto table = parse_given(kernels, "kernel.json", common);
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->events.size(), 2U);
  EXPECT_EQ(table->events[1], (GivenEvent{"L1D_CACHE", "accesses", "", "", 0x04, 0}));
}

TEST(Given, events_of_small_cores_are_skipped_with_a_hint) {
  const auto table = parse_given(
      R"([{"EventName": "A.B", "EventCode": "0x10", "UMask": "0x01", "Unit": "cpu_atom"},
          {"EventName": "A.B", "EventCode": "0x20", "UMask": "0x01", "Unit": "cpu_core"}])",
      "t.json");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->events.size(), 1U);
  EXPECT_EQ(table->events[0].config, 0x0120U);
  EXPECT_NE(table->left_out[0].find("cpu_atom/event="), std::string::npos) << table->left_out[0];
}

// All published tables, if a directory with them is given, such as tools/perf/pmu-events/arch of the kernel source.
TEST(Given, published_tables_are_read) {
  const char* folder = std::getenv("TALLY_EVENT_TABLES");
  if (!folder) GTEST_SKIP() << "TALLY_EVENT_TABLES names no folder of tables (Debian's linux-source has them)";
  std::size_t events = 0, files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream stream(entry.path());
    const auto table = parse_given(std::string(std::istreambuf_iterator<char>(stream), {}), entry.path().string());
    EXPECT_TRUE(table) << table.error().message;
    if (!table) continue;
    ++files;
    events += table->events.size();
    for (const std::string& why : table->left_out) {
      EXPECT_EQ(why.find("they have no code"), std::string::npos) << why;
    }
  }
  EXPECT_GT(files, 0U);
  RecordProperty("files", std::to_string(files));
  RecordProperty("events", std::to_string(events));
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

TEST(Given, invalid_tables_are_reported) {
  for (const char* text :
       {"", "{", "{}", "3", "[3]", R"({"Events": 3})", R"([{"EventName":"A","EventCode":"0xzz"}])"}) {
    const auto table = parse_given(text, "t.json");
    ASSERT_FALSE(table) << text;
    EXPECT_EQ(table.error().code, Code::bad_usage) << text;
    EXPECT_NE(table.error().message.find("'t.json' is not a table of events: "), std::string::npos) << text;
    EXPECT_EQ(table.error().message.find("json.exception"), std::string::npos) << table.error().message;
  }
}

}  // namespace
}  // namespace tally::event
