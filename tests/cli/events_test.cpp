// `tally events`, `tally event`, and event names of every kind.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/hardware/event/event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

TEST(Events, list_every_event_of_the_table_with_its_trust_here) {
  const Finished finished = tally({"events"});
  EXPECT_EQ(finished.code(), 0);
  EXPECT_EQ(finished.err, "");
  for (const event::Definition& line : event::all())
    EXPECT_TRUE(holds(finished.out, " " + std::string(line.name) + " ")) << line.name;
  const json all = json::parse(tally({"events", "--json"}).out);
  EXPECT_EQ(all["schema"], "tally-events/1");
  std::map<std::string, json> events;
  for (const json& one : all["events"]) events[one["event"]] = one;
  EXPECT_EQ(events["page-faults"]["trust"], "counted");
  EXPECT_EQ(events["page-faults"]["other_names"][0], "faults");
#if TALLY_HAS_ENGINE
  // The model of this machine exists only if the kernel describes its caches: some hypervisors hide them.
  const bool described = std::filesystem::exists("/sys/devices/system/cpu/cpu0/cache/index0");
  EXPECT_EQ(events["cycles"]["trust"], described ? "modelled" : "absent");
  EXPECT_EQ(events["instructions"]["trust"], "exact");
  EXPECT_EQ(events["instructions"]["source"], "engine");
#endif
}

// Every event that is listed can be counted, with the trust that was promised.
TEST(Events, stat_has_the_trust_that_was_promised) {
  const json all = json::parse(tally({"events", "--json"}).out);
  std::string list;
  std::vector<std::string> trusts;
  for (const json& one : all["events"]) {
    if (one["origin"] != "table" || one["trust"] == "counted") continue;  // counted: natively, by itself
    list += (list.empty() ? "" : ",") + one["event"].get<std::string>();
    trusts.push_back(one["trust"]);
  }
  const TemporaryFile file("result.json");
  ASSERT_EQ(tally({"stat", "--format", "json", "-o", file.path(), "-e", list, "--", "true"}).code(), 0);
  const json result = json::parse(*file.content());
  ASSERT_EQ(result["events"].size(), trusts.size());
  for (std::size_t i = 0; i < trusts.size(); ++i) {
    EXPECT_EQ(result["events"][i]["trust"], trusts[i]) << result["events"][i]["event"];
  }
}

TEST(Events, patterns_select) {
  const Finished part = tally({"events", "BRANCH"});
  EXPECT_TRUE(holds(part.out, " conditional-branches "));
  EXPECT_FALSE(holds(part.out, " loads "));
  const Finished whole = tally({"events", "L1-d*", "c?lls"});
  EXPECT_TRUE(holds(whole.out, " L1-dcache-load-misses "));
  EXPECT_TRUE(holds(whole.out, " calls "));
  EXPECT_FALSE(holds(whole.out, "\n direct-calls "));
  EXPECT_TRUE(holds(tally({"events", "cs"}).out, " context-switches ")) << "other names count";
  const Finished none = tally({"events", "nothing-is-called-this"});
  EXPECT_EQ(none.code(), 1);
  EXPECT_TRUE(holds(none.err, "no event matches nothing-is-called-this"));
  EXPECT_EQ(none.out, "");
}

TEST(Events, those_of_other_processors_are_found_by_their_name) {
  if (!event::pfm::find_pmu("hsw")) GTEST_SKIP() << "this libpfm4 has no tables of x86 processors";
  EXPECT_TRUE(holds(tally({"events", "hsw::UOPS_RETIRED*"}).out, " hsw::UOPS_RETIRED:ALL "));
  EXPECT_TRUE(holds(tally({"events", "--all", "uops_retired:all"}).out, " hsw::UOPS_RETIRED:ALL "));
  EXPECT_TRUE(holds(tally({"events", "instruction_all"}).out, "apple_m1::INST_ALL"));
}

TEST(Event, a_wrong_label_of_a_tutorial_is_corrected) {
  const Finished finished = tally({"event", "0x4101C2"});
  EXPECT_EQ(finished.code(), 0);
  for (const char* part : {"UOPS_RETIRED.ALL", "IA32_PERFEVTSELx = 0x4101C2", "config 0x1c2", "EN (bit 22)", "r01c2:u",
                           "it is not an L3 cache miss"}) {
    EXPECT_TRUE(holds(finished.out, part)) << part << "\n" << finished.out;
  }
}

TEST(Event, the_register_is_shown_field_by_field) {
  const json all = json::parse(tally({"event", "--json", "cpu/event=0xc4,umask=0x1,cmask=2,inv,edge/k", "r00c4"}).out);
  EXPECT_EQ(all["schema"], "tally-event/1");
  ASSERT_EQ(all["events"].size(), 2u);
  const json& event = all["events"][0];
  EXPECT_EQ(event["register"]["value"], 0x2C601C4);
  std::map<std::string, int> fields;
  for (const json& field : event["register"]["fields"]) fields[field["field"]] = field["value"];
  const std::map<std::string, int> wanted{{"event", 0xC4}, {"umask", 1}, {"USR", 0}, {"OS", 1},   {"E", 1},
                                          {"INT", 0},      {"EN", 1},    {"INV", 1}, {"CMASK", 2}};
  EXPECT_EQ(fields, wanted);
  EXPECT_EQ(event["perf"]["config"], 0x28401C4);
  EXPECT_TRUE(event["counted_as"].is_null());
  EXPECT_EQ(all["events"][1]["counted_as"], "branches");
}

TEST(Event, apples_counters_name_their_source) {
  const Finished finished = tally({"event", "apple_m1::INST_INT_ST"});
  for (const char* part :
       {"PMC7 (Linux); PMC5, PMC6, PMC7 (others)", "instruction_int_store (M1 PMU framework)", "0x96"}) {
    EXPECT_TRUE(holds(finished.out, part)) << part << "\n" << finished.out;
  }
}

TEST(Event, mistakes_end_with_2) {
  EXPECT_EQ(tally({"event"}).code(), 2);
  EXPECT_EQ(tally({"event", "instrctions"}).code(), 2);
  EXPECT_EQ(tally({"event", "0x6100C4"}).code(), 2);
  EXPECT_EQ(tally({"events", "--frobnicate"}).code(), 2);
}

#if TALLY_HAS_ENGINE
TEST(EventNames, all_kinds_count_the_same) {
  const std::string list = "branches,branch-instructions:u,r00c4,0x4100C4,cpu/event=0xc4/,cpu/branch-instructions/u";
  const TemporaryFile file("result.json");
  ASSERT_EQ(tally({"stat", "--format", "json", "-o", file.path(), "-e", list, "--", "true"}).code(), 0);
  const json result = json::parse(*file.content());
  ASSERT_EQ(result["events"].size(), 5u) << "a synonym is counted as the same event";
  for (const json& event : result["events"]) {
    EXPECT_EQ(event["trust"], "exact") << event;
    EXPECT_EQ(event["value"], result["events"][0]["value"]) << event;
  }
  std::string notices;
  for (const json& notice : result["notices"]) notices += notice.get<std::string>() + "\n";
  EXPECT_TRUE(holds(notices, "r00c4:u is counted as branches: Intel's BR_INST_RETIRED.ALL_BRANCHES (C4/00)"))
      << notices;
  EXPECT_TRUE(holds(notices, "EN (bit 22) is ignored")) << notices;
}

TEST(EventNames, what_no_backend_counts_is_absent_and_never_0) {
  const TemporaryFile file("result.json");
  ASSERT_EQ(tally({"stat", "--format", "json", "-o", file.path(), "-e",
                   "{loads,r01c2},0x24100C4,cpu/event=0xcd,umask=1,ldlat=30/,cpu/event=0xb7,umask=1,offcore_rsp=0x10/",
                   "--", "true"})
                .code(),
            0);
  const json result = json::parse(*file.content());
  for (const int i : {1, 2, 3, 4}) {
    EXPECT_EQ(result["events"][i]["trust"], "absent");
    EXPECT_TRUE(result["events"][i]["value"].is_null());
  }
  EXPECT_TRUE(holds(result["events"][1]["reason"], "UOPS_RETIRED.ALL"));
  EXPECT_TRUE(holds(result["events"][2]["reason"], "counter masks"));
  EXPECT_TRUE(holds(result["events"][3]["reason"], "loads that took at least a number of cycles, which PEBS measures"));
  EXPECT_TRUE(holds(result["events"][4]["reason"], "requests that leave the core"));
  const Finished both = tally({"stat", "-e", "0x5300C0", "--", "true"});
  EXPECT_TRUE(holds(both.err, "partial")) << both.err;
}
#endif

// The second column of the guide's table. Entries with placeholders in capitals are not commands, and descriptors are
// those of the program that starts tally.
TEST(FromPerf, every_command_of_the_guide_is_understood) {
  std::ifstream guide(TALLY_FROM_PERF);
  std::size_t tried = 0;
  for (std::string line; std::getline(guide, line);) {
    const std::string mark = "| `tally ";
    const std::size_t start = line.find(mark);
    if (start == std::string::npos) continue;
    const std::string command = line.substr(start + 3, line.find('`', start + 3) - start - 3);
    if (holds(command, "FILE") || holds(command, "NAME") || holds(command, "ID") || holds(command, "fd:")) continue;
    const std::string script = "tally() { " TALLY_COMMAND " \"$@\"; }; " + command;
    const Finished finished = Running({"/bin/sh", "-c", script}).finish();
    // 125 is a valid answer of a machine that cannot count the event; 2 would mean that the command does not exist.
    EXPECT_TRUE(finished.code() == 0 || finished.code() == 125) << command << "\n" << finished.err;
    ++tried;
  }
  EXPECT_GT(tried, 10u);
}

}  // namespace
}  // namespace tally::test
