// The output of a program with regions when it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int cannot_count = 77;

Finished marked(const std::string& output, const Words& arguments) {
  Words words{"/usr/bin/env", "TALLY_OUTPUT=" + output, MARKED};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(words).finish();
}

#define TALLY_MARKED(finished, output, ...)                                           \
  const Finished finished = marked(output, __VA_ARGS__);                              \
  if (finished.code() == cannot_count)                                                \
    GTEST_SKIP() << finished.out; /* needs no PMU: only if perf_event is forbidden */ \
  ASSERT_EQ(finished.code(), 0) << finished.err

json parsed(const std::string& path) {
  const auto text = TemporaryFile::read(path);
  EXPECT_TRUE(text) << path;
  return text ? json::parse(*text) : json();
}

std::vector<std::string> files(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(RegionOutput, a_table_is_printed_at_the_end) {
  TALLY_MARKED(finished, "table", {"3", "1"});
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("tally: regions of process "), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("marked 3 1)\n\ntouch, then \"go\": 2 entries\n"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("page-faults"), std::string::npos) << finished.err;
}

TEST(RegionOutput, under_tally_stat_the_table_is_printed_once) {
  TALLY_MARKED(native, "table", {"3"});
  const Finished finished =
      Running({"/usr/bin/env", "TALLY_OUTPUT=table", TALLY_COMMAND, "stat", "-e", "page-faults", "--", MARKED, "3"})
          .finish();
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const std::size_t first = finished.err.find("touch, then");
  ASSERT_NE(first, std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find("touch, then", first + 1), std::string::npos) << finished.err;
}

TEST(RegionOutput, json_holds_regions_and_threads) {
  const TemporaryFile file("regions.json");
  TALLY_MARKED(finished, file.path(), {"3", "1", "thread"});
  EXPECT_EQ(finished.err, "");
  const json all = parsed(file.path());
  EXPECT_EQ(all.at("schema"), "tally-regions/1");
  EXPECT_GT(all.at("pid"), 1);
  EXPECT_EQ(all.at("command"), json({MARKED, "3", "1", "thread"}));
  ASSERT_EQ(all.at("regions").size(), 1u);
  const json& region = all.at("regions").at(0);
  EXPECT_EQ(region.at("region"), "touch, then \"go\"");
  EXPECT_EQ(region.at("entries"), 3);
  EXPECT_EQ(region.at("dropped"), 0);
  EXPECT_EQ(region.at("recursive"), 0);
  ASSERT_EQ(region.at("threads").size(), 2u);
  EXPECT_EQ(region.at("threads").at(0).at("tid"), all.at("pid"));
  EXPECT_EQ(region.at("threads").at(1).at("entries"), 1);
  const json& event = region.at("threads").at(0).at("events").at(0);
  EXPECT_EQ(event.at("event"), "page-faults");
  EXPECT_EQ(event.at("trust"), "counted");
  EXPECT_GE(event.at("value"), 4);
  EXPECT_TRUE(event.at("reason").is_null());
  EXPECT_EQ(event.at("least"), 1);
  EXPECT_EQ(event.at("too_small"), false);
}

TEST(RegionOutput, the_environment_enables_histograms_and_metrics) {
  const TemporaryFile folder("histograms");
  const std::string name = folder.folder() + "/";
  for (const std::string place : {"table", "regions.json", "regions.csv"}) {
    const std::string output = place == "table" ? place : name + place;
    Words words{"/usr/bin/env",
                "TALLY_OUTPUT=" + output,
                "TALLY_HISTOGRAMS=other,*",
                "TALLY_METRICS=twice=2 * page-faults",
                MARKED,
                "3",
                "1",
                "3"};
    const Finished finished = Running(words).finish();
    if (finished.code() == cannot_count) GTEST_SKIP() << finished.out;
    ASSERT_EQ(finished.code(), 0) << finished.err;
    if (place != "table") continue;
    EXPECT_NE(finished.err.find(" page-faults of an entry  entries\n"), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("  3        2  ####"), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find(" twice   "), std::string::npos) << finished.err;
  }
  const json region = parsed(name + "regions.json").at("regions").at(0);
  EXPECT_EQ(region.at("events").at(0).at("histogram"),
            json::parse(R"([{"least": 1, "most": 1, "entries": 1}, {"least": 3, "most": 3, "entries": 2}])"));
  const json& metric = region.at("threads").at(0).at("metrics").at(0);
  EXPECT_EQ(metric.at("metric"), "twice");
  EXPECT_EQ(metric.at("formula"), "2 * page-faults");
  EXPECT_EQ(metric.at("value"), 2 * region.at("events").at(0).at("value").get<int>());
  const std::string csv = TemporaryFile::read(name + "regions.csv").value_or("");
  EXPECT_NE(csv.find(",page-faults 3-3,2,exact,,,,,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",twice,"), std::string::npos) << csv;
}

TEST(RegionOutput, a_wrong_metric_in_the_environment_is_reported_and_left_out) {
  const Finished finished = Running({"/usr/bin/env", "TALLY_OUTPUT=table",
                                     "TALLY_METRICS=IPX,wrong=page-faults +,bytes=4096*page-faults", MARKED, "3", "1"})
                                .finish();
  if (finished.code() == cannot_count) GTEST_SKIP() << finished.out;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.err.find("tally: TALLY_METRICS: unknown metric 'IPX'\n"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find(" bytes   "), std::string::npos) << finished.err;
}

TEST(RegionOutput, csv_has_the_columns_of_stat) {
  const TemporaryFile file("regions.csv");
  TALLY_MARKED(finished, file.path(), {"7"});
  const std::string text = file.content().value_or("");
  const std::string head =
      "run,interval_ns,pid,tid,cpu,region,event,value,trust,running_percent,error_percent,model,reason,"
      "command,parent,end,least,most\r\n1,,";
  ASSERT_TRUE(text.starts_with(head)) << text;
  const std::string pid = text.substr(head.size(), text.find(',', head.size()) - head.size());
  const std::string region = "\"touch, then \"\"go\"\"\"";
  for (const std::string& tid : {std::string(), pid}) {
    EXPECT_NE(text.find("\r\n1,," + pid + "," + tid + ",," + region + ",entries,1,exact,,,,,"), std::string::npos)
        << text;
  }
  EXPECT_NE(text.find("," + region + ",page-faults,"), std::string::npos) << text;
}

TEST(RegionOutput, every_process_has_a_file_of_its_own) {
  const TemporaryFile any("any");
  TALLY_MARKED(finished, any.folder() + "/%p.json", {"1", "other", "fork", "idle", "fork"});
  const auto names = files(any.folder());
  ASSERT_EQ(names.size(), 3u);
  for (const std::string& name : names) {
    const json all = parsed(any.folder() + "/" + name);
    EXPECT_EQ(name, std::to_string(all.at("pid").get<int>()) + ".json");
    // Regions of counters that have ended come first.
    const bool is_child = all.at("regions").size() == 1 && all.at("regions").at(0).at("region") == "child";
    EXPECT_TRUE(is_child || all.at("regions").size() == 2) << "a child starts without regions: " << all;
    if (!is_child) {
      EXPECT_EQ(all.at("regions").at(0).at("events").at(0).at("event"), "minor-faults");
    }
  }
}

TEST(RegionOutput, a_child_does_not_write_over_its_parents_file) {
  const TemporaryFile file("regions.json");
  TALLY_MARKED(finished, file.path(), {"fork", "1"});
  const auto names = files(file.folder());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[1], "regions.json");
  EXPECT_EQ(parsed(file.path()).at("regions").at(0).at("region"), "touch, then \"go\"");
  const json child = parsed(file.folder() + "/" + names[0]);
  EXPECT_EQ(names[0], "regions." + std::to_string(child.at("pid").get<int>()) + ".json");
  EXPECT_EQ(child.at("regions").at(0).at("region"), "child");
}

TEST(RegionOutput, a_program_that_enters_none_says_so) {
  TALLY_MARKED(finished, "table", {});
  EXPECT_NE(finished.err.find("no region was entered"), std::string::npos) << finished.err;
}

TEST(RegionOutput, what_cannot_be_written_is_printed_with_the_reason) {
  for (const std::string& place : {std::string("regions.txt"), std::string("/nowhere/regions.json")}) {
    TALLY_MARKED(finished, place, {"2"});
    EXPECT_NE(finished.err.find("tally: cannot write "), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("'" + place + "'"), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("\": 1 entry\n"), std::string::npos) << finished.err;
    EXPECT_FALSE(fs::exists(place));
  }
}

TEST(RegionOutput, counters_that_do_not_open_are_reported) {
  const TemporaryFile file("regions.json");
  const Finished finished = marked(file.path(), {"bad"});
  EXPECT_NE(finished.err.find("tally: no regions: unknown event 'nothing-like-it'"), std::string::npos) << finished.err;
  EXPECT_FALSE(file.content());
}

// Whoever starts a setuid program chooses its environment, which must not choose the files that it writes as root.
TEST(RegionOutput, a_setuid_program_ignores_its_users_paths) {
  if (geteuid() != 0) GTEST_SKIP() << "root makes programs setuid";
  const TemporaryFile copy("setuid");
  fs::copy_file(MARKED, copy.path());
  ASSERT_EQ(chmod(copy.folder().c_str(), 0777), 0);
  ASSERT_EQ(chmod(copy.path().c_str(), 04755), 0);
  const std::string wanted = copy.folder() + "/regions.json";
  const Finished finished = Running({"/usr/bin/env", "TALLY_OUTPUT=" + wanted, "setpriv", "--reuid=65534",
                                     "--regid=65534", "--clear-groups", copy.path(), "3"})
                                .finish();
  if (finished.code() == 127) GTEST_SKIP() << "setpriv is not installed (package util-linux)";
  EXPECT_FALSE(fs::exists(wanted)) << finished.err;
}

}  // namespace
}  // namespace tally::test
