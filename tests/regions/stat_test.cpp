// `tally stat` shows the regions that programs count themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Native: the regions count software events.
Words stat_of(const Words& options, const Words& program) {
  Words words{"stat", "--backend", "none", "-e", "page-faults"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

#define TALLY_RUN(finished, options, ...)                                                 \
  if (Running({MARKED}).finish().code() == 77) GTEST_SKIP() << "perf_event is forbidden"; \
  const Finished finished = tally(stat_of(options, __VA_ARGS__));                         \
  ASSERT_EQ(finished.code(), 0) << finished.err

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Without TALLY_ENABLE, a file that includes tally.h is linked without the library.
TEST(RegionsThatStay, need_no_library) {
  for (const std::string compiler : {"gcc", "g++", "clang", "clang++"}) {
    if (shell("command -v " + compiler).code() != 0) continue;
    const TemporaryFile program("unmarked");
    const Finished compiled =
        shell(compiler + " -O0 -Wall -Wextra -Werror -I" LIBRARY_FOLDER "/include -o " + program.path() + " -x " +
              (compiler.ends_with('+') ? "c++" : "c") + " " SOURCES "/examples/regions.c");
    EXPECT_EQ(compiled.code(), 0) << compiler << ": " << compiled.err;
  }
}

#if TALLY_HAS_ENGINE
constexpr const char* twelve_events =
    "instructions,loads,stores,branches,returns,load-bytes,store-bytes,fp-operations,fp-instructions,nops,"
    "system-calls,locked-instructions";

// Nine do not fit into a region of its program.
TEST(RegionsOfRelease090, HaveEightEvents) {
  const Finished stat = tally({"stat", "--backend", "engine", "-e", twelve_events, "--", OLD_REGIONS});
  EXPECT_EQ(stat.out, "8 events, whole\n");
  EXPECT_NE(stat.err.find("\n regions have the first 8 of the 12 hardware events\n"), std::string::npos) << stat.err;
  EXPECT_EQ(Running({OLD_REGIONS, twelve_events}).finish().out, "12 events are too many: a region counts 8 at most\n");
}

// Those of a group of two subjects fit.
TEST(RegionsOfStat, HaveSixteenEvents) {
  const TemporaryFile file("result.json");
  const Finished stat =
      tally({"stat", "-q", "--backend", "engine", "--group", "FLOPS_DP,MEM", "-o", file.path(), "--", NESTED_REGIONS});
  ASSERT_EQ(stat.code(), 0) << stat.err;
  const json result = json::parse(*file.content());
  std::size_t hardware = 0;
  for (const json& event : result["events"]) hardware += event["name"].get<std::string>().ends_with(":u");
  EXPECT_GT(hardware, 8u);
  EXPECT_LE(hardware, 16u);
  const json& region = result["regions"][0]["regions"][0];
  EXPECT_EQ(region["events"].size(), hardware) << region;
  EXPECT_NE(region.dump().find("only a whole region that libtally marks"), std::string::npos) << region;
}

/// The counts of each entry of the region: instructions, loads, stores.
using PerEntry = std::map<std::string, std::vector<std::int64_t>>;

class RegionsOfC : public testing::TestWithParam<const char*> {};

// The first entry as well: none includes the dynamic linker.
TEST_P(RegionsOfC, count_to_the_instruction) {
  const std::string compiler = GetParam();
  if (Running({"/bin/sh", "-c", "command -v " + compiler}).finish().code() != 0)
    GTEST_SKIP() << "there is no " << compiler;
  const TemporaryFile program("counts"), file("result.json");
  const Finished compiled =
      Running({"/bin/sh", "-c",
               compiler +
                   " -O2 -Wall -Werror -DTALLY_ENABLE -I" LIBRARY_FOLDER "/include " SOURCES
                   "/tests/regions/counts.c -L" LIBRARY_FOLDER " -Wl,-rpath," LIBRARY_FOLDER " -ltally -o " +
                   program.path()})
          .finish();
  ASSERT_EQ(compiled.code(), 0) << compiled.err;
  const Finished counted =
      Running({"/usr/bin/env", "TALLY_EVENTS=instructions,loads,stores", TALLY_COMMAND, "stat", "-q", "--backend",
               "engine", "-e", "instructions", "--format", "json", "-o", file.path(), "--", program.path()})
          .finish();
  ASSERT_EQ(counted.code(), 0) << counted.err;
  PerEntry least, most;
  const json result = json::parse(file.content().value_or(""));
  for (const json& region : result.at("regions").at(0).at("regions")) {
    for (const json& event : region.at("events")) {
      least[region.at("region")].push_back(event.at("least"));
      most[region.at("region")].push_back(event.at("most"));
      EXPECT_EQ(event.at("trust"), "exact");
    }
  }
  const PerEntry known{{"nothing", {0, 0, 0}}, {"nops", {5, 0, 0}}, {"accesses", {5, 3, 2}}, {"by letters", {3, 0, 0}}};
  EXPECT_EQ(least, known);
  EXPECT_EQ(most, known);
}

/// What the entries of regions counted, by region: smallest, largest and sum, one event after the other.
std::map<std::string, std::vector<std::int64_t>> counts_of_nested_regions() {
  const TemporaryFile file("result.json");
  const Finished counted =
      Running({"/usr/bin/env", "TALLY_EVENTS=instructions,branches", TALLY_COMMAND, "stat", "-q", "--backend", "engine",
               "-e", "instructions", "--format", "json", "-o", file.path(), "--", NESTED_REGIONS})
          .finish();
  EXPECT_EQ(counted.code(), 0) << counted.err;
  std::map<std::string, std::vector<std::int64_t>> counts;
  const json result = json::parse(file.content().value_or(""));
  for (const json& region : result.at("regions").at(0).at("regions")) {
    for (const json& event : region.at("events"))
      for (const char* const what : {"least", "most", "value"})
        counts[region.at("region")].push_back(event.at(what).is_null() ? 0 : event.at(what).get<std::int64_t>());
  }
  return counts;
}

// What the library does for inner regions depends on the length of names, on how many are known and on the depth: none
// of it is in the regions around, in the first entry either.
TEST(NestedRegions, leave_nothing_of_the_library_in_the_regions_around) {
  auto counts = counts_of_nested_regions();
  const std::vector<std::int64_t> around = counts["around 1"];
  ASSERT_EQ(around.size(), 6u);
  const std::vector<std::int64_t> inner = counts["a"];
  const std::int64_t between = around[1] - around[0] - inner[0];
  EXPECT_GE(between, 1);
  EXPECT_LE(between, 8) << "the calls of the inner region, in two of three entries";
  for (const std::size_t event : {0u, 3u}) EXPECT_EQ(around[event + 2], around[event] + 2 * around[event + 1]);
  for (const char* const length : {"5", "31", "33", "64", "200"})
    EXPECT_EQ(counts["around " + std::string(length)], around) << length;
}

// As a recursive entry is not counted itself, its end executes less, unless it is made to execute the same.
TEST(NestedRegions, may_be_recursive) {
  auto counts = counts_of_nested_regions();
  for (const std::size_t event : {0u, 3u}) {
    const auto at = [&](int depth) { return counts["recursive " + std::to_string(depth)].at(event + 1); };
    EXPECT_GE(at(1) - at(0), 11) << "a loop of ten, and a call";
    for (int depth = 1; depth < 4; ++depth) EXPECT_EQ(at(depth) - at(depth - 1), at(1) - at(0)) << depth;
  }
}

TEST(NestedRegions, may_end_by_another_kind_of_name_or_not_at_all) {
  auto counts = counts_of_nested_regions();
  for (const char* const around : {"around mixed", "around dropped"}) {
    EXPECT_GE(counts[around].at(0), 0) << around;
    EXPECT_LE(counts[around].at(1), 150) << around;  // several hundred if a cost were missing or subtracted twice
  }
  EXPECT_LE(counts["around mixed"].at(1), 20) << "the calls";
  EXPECT_EQ(counts["dropped"].at(2), 0);
}

// An entry whose read was interrupted is dropped: the others count their loop, or that and a handler.
TEST(NestedRegions, may_be_interrupted) {
  auto counts = counts_of_nested_regions();
  EXPECT_EQ(counts["handler"].at(0), counts["handler"].at(1));
  EXPECT_GE(counts["interrupted"].at(0), 30) << "ten rounds of three instructions";
  EXPECT_LE(counts["interrupted"].at(0), 40);
}

TEST(NestedRegions, may_be_deep) {
  auto counts = counts_of_nested_regions();
  for (int depth = 0; depth < 8; ++depth) {
    const std::vector<std::int64_t> region = counts["deep " + std::to_string(depth)];
    const std::vector<std::int64_t> innermost = counts["deep 7"], next = counts["deep 6"];
    ASSERT_EQ(region.size(), 6u) << depth;
    EXPECT_EQ(region[0], region[1]) << depth << ": the first entry, which creates records, and the second";
    EXPECT_EQ(region[0] - innermost[0], (7 - depth) * (next[0] - innermost[0])) << depth;
    EXPECT_LE(next[0] - innermost[0], 40) << "the calls of the inner region and of the function around it";
  }
}

INSTANTIATE_TEST_SUITE_P(compilers, RegionsOfC, testing::Values("gcc", "clang"),
                         [](const auto& one) { return std::string(one.param); });
#endif

TEST(StatRegions, are_listed_after_the_totals) {
  TALLY_RUN(finished, {}, {MARKED, "3", "1"});
  const std::size_t totals = finished.err.find("\n event ");
  const std::size_t regions = finished.err.find("\nregions of process ");
  ASSERT_NE(totals, std::string::npos) << finished.err;
  ASSERT_NE(regions, std::string::npos) << finished.err;
  EXPECT_LT(totals, regions);
  EXPECT_LT(regions, finished.err.find(" the program and its descendants · run natively\n"));
  EXPECT_NE(finished.err.find("\ntouch, then \"go\": 2 entries\n"), std::string::npos) << finished.err;
}

TEST(StatRegions, of_every_process_of_every_run_are_in_the_json) {
  TALLY_RUN(finished, Words({"-r", "2", "--format", "json", "-o", "-"}),
            {"/bin/sh", "-c", "\"$0\" 2; \"$0\" 5 fork", MARKED});
  const json regions = json::parse(finished.out).at("regions");
  ASSERT_EQ(regions.size(), 6u) << regions;
  for (std::size_t i = 0; i < regions.size(); ++i) EXPECT_EQ(regions[i].at("run"), 1 + i / 3) << regions;
  EXPECT_EQ(regions[0].at("command"), json({MARKED, "2"})) << "in the order of their starts";
  EXPECT_EQ(regions[1].at("command"), json({MARKED, "5", "fork"}));
  EXPECT_EQ(regions[2].at("regions").at(0).at("region"), "child");
  EXPECT_TRUE(regions[0].at("reason").is_null());
  EXPECT_EQ(regions[0].at("regions").at(0).at("entries"), 1);
}

// The regions of the child of a run.
json child_of(const std::string& word) {
  const Finished finished = tally(stat_of({"--format", "json", "-o", "-"}, {MARKED, word}));
  for (const json& process : json::parse(finished.out, nullptr, false).value("regions", json::array()))
    for (const json& region : process.at("regions"))
      if (region.at("region") == "child") return region;
  return {};
}

TEST(StatRegions, are_not_lost_with_a_process_that_ends_without_exit_handlers) {
  if (Running({MARKED}).finish().code() == 77) GTEST_SKIP() << "perf_event is forbidden";
  const auto numbers = [](json region) {
    for (json& thread : region.at("threads")) thread.erase("tid");
    return region;
  };
  const json expected = numbers(child_of("fork"));
  ASSERT_EQ(expected.at("entries"), 1);
  EXPECT_EQ(numbers(child_of("fork,_exit")), expected);
  EXPECT_EQ(numbers(child_of("fork,kill")), expected);
  EXPECT_EQ(numbers(child_of("fork,exec")), expected);
}

TEST(StatRegions, in_which_a_process_ended_are_partial) {
  if (Running({MARKED}).finish().code() == 77) GTEST_SKIP() << "perf_event is forbidden";
  const json region = child_of("fork,open");
  EXPECT_EQ(region.at("entries"), 1);
  EXPECT_EQ(region.at("open"), 1);
  EXPECT_EQ(region.at("events").at(0).at("trust"), "partial") << region;
}

TEST(StatRegions, have_rows_in_the_csv) {
  TALLY_RUN(finished, Words({"--format", "csv", "-o", "-"}), {MARKED, "2", "thread"});
  const std::string region = ",,\"touch, then \"\"go\"\"\",";
  EXPECT_EQ(times(finished.out, region + "entries,"), 3u) << finished.out;
  EXPECT_EQ(times(finished.out, region + "page-faults,"), 3u) << finished.out;
  EXPECT_NE(finished.out.find(region + "entries,2,exact,,,,,"), std::string::npos) << finished.out;
}

TEST(StatRegions, are_read_back) {
  const TemporaryFile file("result.json");
  TALLY_RUN(finished, Words({"--format", "json", "-o", file.path()}), {MARKED, "2"});
  const Finished exported = tally({"export", "--format", "json", "-o", "-", file.path()});
  ASSERT_EQ(exported.code(), 0) << exported.err;
  EXPECT_EQ(json::parse(exported.out).at("regions"), json::parse(*file.content()).at("regions"));
}

TEST(StatRegions, that_could_not_be_counted_are_reported) {
  TALLY_RUN(finished, {}, {"/bin/sh", "-c", "\"$0\" bad; true", MARKED});
  EXPECT_NE(finished.err.find(" bad)\nunknown event 'nothing-like-it'; `tally events` lists"), std::string::npos)
      << finished.err;
}

TEST(StatRegions, leave_no_files) {
  TALLY_RUN(finished, {}, {"/bin/sh", "-c", "\"$0\" 1; ls -d /dev/shm/tally-regions-*-$PPID-*", MARKED});
  const std::string folder = finished.out.substr(0, finished.out.find('\n'));
  EXPECT_TRUE(folder.starts_with("/dev/shm/tally-regions-")) << finished.out;
  EXPECT_FALSE(fs::exists(folder));
}

TEST(StatRegions, are_sent_to_the_nearest_tally_only) {
  Words inner = tally_words(stat_of({"-o", "/dev/null"}, {MARKED, "1"}));
  TALLY_RUN(finished, {}, inner);
  EXPECT_EQ(finished.err.find("regions of process"), std::string::npos) << finished.err;
}

#if TALLY_HAS_ENGINE
TEST(StatRegions, are_exact_under_the_engine) {
  const Finished finished =
      Running({"/usr/bin/env", "TALLY_EVENTS=instructions,branches,cycles", TALLY_COMMAND, "stat", "-q", "-e",
               "instructions", "--format", "json", "-o", "-", "--", std::string(BUILT) + "/regions_c"})
          .finish();
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const std::string data = finished.out.substr(finished.out.find('{'));
  const json regions = json::parse(data).at("regions").at(0).at("regions");
  ASSERT_EQ(regions.size(), 2u);
  const json& events = regions[1].at("events");
  EXPECT_EQ(events[0].at("trust"), "exact");
  EXPECT_EQ(events[1].at("most").get<int>() - events[1].at("least").get<int>(), 1) << "nine looks or ten";
  EXPECT_EQ(events[2].at("trust"), "absent") << "the others are counted all the same";
}

// A search through the events of all processors would be 300 million instructions in the measured program.
TEST(StatRegions, of_an_unknown_event_cost_little_and_say_where_it_was_named) {
  const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=instrucions", TALLY_COMMAND, "stat", "-q", "-e",
                                     "instructions", "--format", "json", "-o", "-", "--", WALKS})
                                .finish();
  const json result = json::parse(finished.out, nullptr, false);
  EXPECT_LT(result.at("events").at(0).at("value"), 40'000'000);
  const auto reason = result.at("regions").at(0).at("reason").get<std::string>();
  EXPECT_TRUE(reason.starts_with("TALLY_EVENTS: unknown event 'instrucions'; did you mean instructions")) << reason;
  EXPECT_NE(finished.err.find("TALLY_EVENTS: unknown event 'instrucions'\n"), std::string::npos) << finished.err;
}

/// The regions of `walks`, which two threads enter, by name and then by event; and the whole output.
struct WalksRun {
  std::map<std::string, std::map<std::string, json>> events;
  std::map<std::string, json> regions;
  json all;
};
WalksRun walked(const Words& options, const std::string& word = "thread") {
  Words words{"/usr/bin/env",
              "TALLY_EVENTS=loads,L1-dcache-load-misses,branch-misses,cache-misses,cycles",
              TALLY_COMMAND,
              "stat",
              "-q",
              "--format",
              "json",
              "-o",
              "-"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", WALKS, word});
  const Finished finished = Running(words).finish();
  WalksRun result;
  result.all = json::parse(finished.out, nullptr, false);
  for (const json& region : result.all.at("regions").at(0).at("regions")) {
    const auto name = region.at("region").get<std::string>();
    result.regions[name] = region;
    for (const json& event : region.at("events")) result.events[name][event.at("event").get<std::string>()] = event;
  }
  return result;
}

// Each entry of `first` walks over 128 untouched lines, `again` over the same, and `both` is around them.
TEST(StatRegions, have_modelled_counts) {
  WalksRun one = walked({"--model", "haswell", "--models-by", "both", "-e", "L1-dcache-load-misses,branch-misses"});
  const json& first = one.events["first"]["L1-dcache-load-misses:u"];
  // The entry that creates the library's data for the name may push a line or two of the library out. The addresses of
  // its variables decide this, and differ from build to build.
  constexpr std::int64_t pushed_out = 2;
  EXPECT_GE(first.at("value"), 2 * 4 * 128);
  EXPECT_LE(first.at("value"), 2 * (4 * 128 + pushed_out));
  EXPECT_EQ(first.at("least"), 128);
  EXPECT_LE(first.at("most"), 128 + pushed_out);
  EXPECT_EQ(first.at("trust"), "modelled");
  EXPECT_EQ(first.at("model"), "haswell caches, fast");
  EXPECT_EQ(one.events["first"]["branch-misses:u"].at("model"), "TAGE, fast");
  EXPECT_EQ(one.events["first"]["loads:u"].at("trust"), "exact");
  EXPECT_TRUE(one.events["first"]["loads:u"].at("model").is_null());
  for (const json& thread : one.regions["first"].at("threads")) {
    const auto misses = thread.at("events").at(1).at("value").get<std::int64_t>();
    EXPECT_GE(misses, 4 * 128) << "each has a first level of its own";
    EXPECT_LE(misses, 4 * 128 + pushed_out);
  }
  EXPECT_EQ(one.events["again"]["L1-dcache-load-misses:u"].at("least"), 0);
  // The library's data for a name is created at its first entry, and uses some lines.
  const json& both = one.events["both"]["L1-dcache-load-misses:u"];
  EXPECT_GE(both.at("least"), 128);
  EXPECT_LE(both.at("least"), 128 + 8);
  EXPECT_NE(one.all.at("notices").dump().find("the plain models agree"), std::string::npos) << one.all.at("notices");
}

TEST(StatRegions, have_cycles_of_the_core_model) {
  WalksRun some = walked({"--model", "haswell", "-e", "cycles"});
  const json& first = some.events["first"]["cycles:u"];
  const json& both = some.events["both"]["cycles:u"];
  EXPECT_EQ(first.at("trust"), "modelled");
  // The host's core is that of its processor.
  WalksRun host = walked({"--model", "host", "-e", "cycles"});
  const std::string model = host.events["first"]["cycles:u"].at("model");
  EXPECT_TRUE(model.starts_with("host")) << model;
  EXPECT_EQ(model, host.all.at("events").at(0).at("model").get<std::string>()) << "the error, too";
  // Eight entries of 128 loads, all of which miss.
  EXPECT_GE(first.at("value"), 8 * 128);
  EXPECT_GE(both.at("value"), first.at("value"));
  EXPECT_LT(some.events["again"]["cycles:u"].at("value"), first.at("value"));
}

// The library executes much code before the first region: short regions have the cost of their own code nevertheless.
TEST(StatRegions, have_cycles_of_their_own_code_after_few_entries) {
  const json chain = walked({"--model", "haswell", "-e", "cycles"}, "chains").events["chain"]["cycles:u"];
  EXPECT_EQ(chain.at("trust"), "modelled") << chain;
  EXPECT_NEAR(chain.at("value").get<double>(), 60 * 3000, 60 * 300);
}

TEST(StatRegions, have_one_row_for_events_that_are_absent_for_one_reason) {
  const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=", TALLY_COMMAND, "stat", "-q", "--model", "haswell",
                                     "--by", "cause", "-o", "-", "--", WALKS})
                                .finish();
  const std::string regions = finished.out.substr(std::min(finished.out.size(), finished.out.find("regions of")));
  EXPECT_NE(regions.find(" cycles-retiring:u and 10 more "), std::string::npos) << finished.out << finished.err;
  EXPECT_NE(regions.find("absent: the causes of cycles are known for the whole program"), std::string::npos) << regions;
  EXPECT_EQ(regions.find(" cycles-core:u "), std::string::npos) << regions;
}

TEST(StatRegions, say_why_a_model_counts_nothing_in_them) {
  WalksRun some = walked({"--model", "haswell", "-e", "L1-dcache-load-misses"});
  const auto reason = [](const json& event) { return event.at("reason").get<std::string>(); };
  EXPECT_NE(reason(some.events["first"]["cache-misses:u"]).find("name it with `tally stat -e`"), std::string::npos);
  EXPECT_NE(reason(some.events["first"]["cycles:u"]).find("name it with `tally stat -e`"), std::string::npos);
  WalksRun none = walked({"--backend", "engine", "-e", "instructions"});
  EXPECT_NE(reason(none.events["first"]["L1-dcache-load-misses:u"]).find("tally stat --model host"), std::string::npos);
}

// A program that does not choose its events: its regions have those of `tally stat`.
TEST(StatRegions, count_the_events_of_the_command) {
  const auto regions = [](const Words& options, const std::string& environment = "TALLY_EVENTS=") {
    Words words{"/usr/bin/env", environment, TALLY_COMMAND, "stat", "-q", "--backend",
                "engine",       "--format",  "json",        "-o",   "-"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", WALKS});
    const json all = json::parse(Running(words).finish().out, nullptr, false);
    return all.at("regions").at(0).at("regions").at(0);
  };
  const auto names = [](const json& region) {
    std::string text;
    for (const json& event : region.at("events")) text += event.at("event").get<std::string>() + " ";
    return text;
  };
  const json asked = regions({"--model", "haswell", "-e", "loads,page-faults,cycles,L1-dcache-load-misses", "--metrics",
                              "L1D-miss-rate", "--metrics", "mine=loads / stores"});
  EXPECT_EQ(names(asked), "loads:u cycles:u L1-dcache-load-misses:u stores:u ");
  EXPECT_EQ(asked.at("events").at(2).at("trust"), "modelled");
  EXPECT_EQ(asked.at("events").at(1).at("trust"), "modelled");
  std::map<std::string, json> metrics;
  for (const json& metric : asked.at("metrics")) metrics[metric.at("metric").get<std::string>()] = metric;
  EXPECT_TRUE(metrics.at("L1D-miss-rate").at("asked").get<bool>());
  EXPECT_EQ(metrics.at("mine").at("trust"), "exact");
  EXPECT_EQ(names(regions({"-e", "loads"}, "TALLY_EVENTS=stores,calls")), "stores:u calls:u ") << "its own choice";
  EXPECT_EQ(names(regions({})), "instructions:u cycles:u ") << "not requested";
  EXPECT_EQ(names(regions({"-e", "page-faults"})), "instructions:u cycles:u ")
      << "nothing that regions count is counted there";
  EXPECT_EQ(names(regions({"-e", "r00c4,0x4101C5"})).substr(0, 6), "r00c4:");
}

TEST(StatRegions, name_the_model_in_the_table) {
  const Finished finished = Running({"/usr/bin/env", "TALLY_EVENTS=L1-dcache-load-misses", TALLY_COMMAND, "stat", "-q",
                                     "--model", "haswell", "-e", "L1-dcache-load-misses", "--", WALKS})
                                .finish();
  const std::size_t regions = finished.err.find("\nfirst: 4 entries\n");
  ASSERT_NE(regions, std::string::npos) << finished.err;
  const std::regex row(R"(51\d +128\.\d\d +128 +1[23]\d  model haswell caches, fast\n)");
  EXPECT_TRUE(std::regex_search(finished.err.substr(regions), row)) << finished.err;
}
#endif

}  // namespace
}  // namespace tally::test
