// `tally bench`: several calls at the same time, programs that leave processes running, and verdicts for programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/bench_fixture.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST_F(Bench, waits_for_another_call_that_writes_the_same_directory) {
  for (const std::string end : {"1000", "2000"}) {
    fs::create_directories(folder_ / end);
    std::ofstream(folder_ / end / "end") << end << "\n";
    std::ofstream(folder_ / (end + ".toml"))
        << "[[benchmark]]\nname = \"loop\"\nfail-above = [\"instructions=1%\"]\ndirectory = \"" << end
        << "\"\ncommand = [\"sh\", \"-c\", \"read end <end; i=0; while [ $i -lt $end ]; do i=$((i + 1)); done\"]\n";
  }
  ASSERT_EQ(bench({"1000.toml", "-o", "old"}).code(), 0);
  const auto start = [&](const std::string& file) {
    return Running({"/usr/bin/env", "-C", folder_.string(), TALLY_COMMAND, "bench", file, "-o", "shared", "--baseline",
                    "old", "--history", "bench.db"});
  };
  for (int round = 0; round < 3; ++round) {
    Running same = start("1000.toml"), slower = start("2000.toml");
    EXPECT_EQ(slower.finish().code(), 1);
    EXPECT_EQ(same.finish().code(), 0);
  }
  const json history = json::parse(
      tally({"history", (folder_ / "bench.db").string(), "--name", "loop", "--format", "json"}).out, nullptr, false);
  EXPECT_EQ(history["series"][0]["values"].size(), 6u) << history;
}

TEST_F(Bench, stores_each_of_several_equal_results_of_a_second) {
  suite("10");
  for (int call = 0; call < 4; ++call) ASSERT_EQ(bench({"--only", "true", "--history", "bench.db"}).code(), 0);
  const json history = json::parse(
      tally({"history", (folder_ / "bench.db").string(), "--name", "true", "--format", "json"}).out, nullptr, false);
  ASSERT_TRUE(history.is_object());
  EXPECT_EQ(history["series"][0]["values"].size(), 4u) << history;
}

TEST_F(Bench, ends_with_a_program_that_leaves_a_process_with_its_output) {
  suite("10", "[[benchmark]]\nname = \"daemon\"\ntimeout = 20\ncommand = [\"sh\", \"-c\", \"sleep 30 &\"]\n");
  const Finished run = bench({"--only", "daemon"});
  EXPECT_TRUE(run.code() == 0 && !holds(run.out, "timeout")) << run.out << run.err;
}

TEST_F(Bench, names_the_signal_that_killed_a_program) {
  suite("10",
        "[[benchmark]]\nname = \"crash\"\nenvironment = \"fixed\"\ncommand = [\"sh\", \"-c\", \"kill -SEGV $$\"]\n");
  const Finished run = bench({"--only", "crash"});
  EXPECT_TRUE(run.code() == 125 && holds(run.out, "exit code 139 (SIGSEGV)") && !holds(run.out, "environment"))
      << run.out << run.err;
}

TEST_F(Bench, writes_json) {
  suite("1000");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  suite("1100", "[[benchmark]]\nname = \"fails\"\ncommand = [\"false\"]\n");
  const Finished run = bench({"-o", "new", "--baseline", "old", "--format", "json"});
  EXPECT_EQ(run.code(), 1);
  const json all = json::parse(run.out, nullptr, false);
  ASSERT_TRUE(all.is_object()) << run.out;
  EXPECT_EQ(all["exit_code"], 1);
  const json& loop = all["benchmarks"][0];
  const json& row = loop["rows"][0];
  EXPECT_EQ(loop["name"], "loop");
  EXPECT_EQ(row["verdict"], "failed");
  EXPECT_GT(row["after"], row["before"]);
  EXPECT_GT(row["relative_change"], 0.01);
  EXPECT_EQ(row["limit"], "1%");
  EXPECT_EQ(all["benchmarks"][2]["has_run"], false);
  EXPECT_EQ(all["missing"], json::array());
}

TEST_F(Bench, prints_the_counts_of_functions_that_did_not_change) {
  suite("10",
        "[[benchmark]]\nname = \"functions\"\nprofile = true\nfail-above = [\"instructions@dl_main=5%\"]\n"
        "command = [\"true\"]\n");
  ASSERT_EQ(bench({"-o", "old", "--only", "functions"}).code(), 0);
  const Finished run = bench({"-o", "new", "--baseline", "old", "--only", "functions", "--format", "json"});
  const json all = json::parse(run.out, nullptr, false);
  ASSERT_TRUE(all.is_object()) << run.out << run.err;
  const json& row = all["benchmarks"][0]["rows"][0];
  EXPECT_EQ(row["verdict"], "passed") << run.out;
  EXPECT_GT(row["before"], 0);
  EXPECT_EQ(row["before"], row["after"]);
}

TEST_F(Bench, leaves_undecided_what_an_incomplete_baseline_limits) {
  suite("10");
  ASSERT_EQ(bench({"-o", "old", "--only", "loop"}).code(), 0);
  json stored = json::parse(text("old/loop.json"));
  stored["incomplete"] = true;
  std::ofstream(folder_ / "old/loop.json") << stored;
  const Finished run = bench({"-o", "new", "--baseline", "old", "--only", "loop"});
  EXPECT_TRUE(run.code() == 3 && holds(run.out, "the result before is incomplete")) << run.out << run.err;
}

}  // namespace
}  // namespace tally::test
