// `stat --history`, `tally history` and the page of a history.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Words stored_in(const std::string& file, const Words& more = {}) {
  return with(with({"stat", "-q", "--backend", "none", "-e", "page-faults", "--history", file}, more), {"--", "true"});
}

TEST(History, shows_what_stat_stored) {
  const TemporaryFile file("bench.db");
  for (const char* label : {"one", "two", "three"})
    ASSERT_EQ(tally(stored_in(file.path(), {"--label", label, "--name", "true's"})).code(), 0);
  const Finished shown = tally({"history", file.path()});
  EXPECT_EQ(shown.code(), 0) << shown.err;
  EXPECT_TRUE(holds(shown.out, "true's") && holds(shown.out, "page-faults")) << shown.out;
  const Finished list = tally({"history", file.path(), "--list"});
  EXPECT_TRUE(holds(list.out, "two")) << list.out;
  const Json json = Json::parse(tally({"history", file.path(), "--format", "json", "--last", "2"}).out);
  EXPECT_EQ(json["schema"], "tally-history/1");
  ASSERT_EQ(json["series"].size(), 1u);
  ASSERT_EQ(json["series"][0]["values"].size(), 2u);
  EXPECT_EQ(json["series"][0]["values"][1]["provenance"]["label"], "three");
  const Json action = Json::parse(tally({"history", file.path(), "--format", "benchmark-action"}).out);
  EXPECT_EQ(action[0]["name"], "true's: page-faults");
  EXPECT_TRUE(action[0]["value"].is_number());
  const Json bencher = Json::parse(tally({"history", file.path(), "--format", "bencher"}).out);
  EXPECT_EQ(bencher["true's"]["page-faults"]["value"], action[0]["value"]);
  EXPECT_EQ(tally({"history", file.path(), "--name", "other"}).code(), 2);
}

TEST(History, stores_every_run_also_equal_ones_within_a_second) {
  const TemporaryFile file("bench.db");
  for (int i = 0; i < 4; ++i)
    ASSERT_EQ(tally({"stat", "-q", "--repeatable", "-e", "instructions", "--history", file.path(), "true"}).code(), 0);
  const Json json = Json::parse(tally({"history", file.path(), "--format", "json"}).out);
  EXPECT_EQ(json["series"][0]["values"].size(), 4u);
}

// An exact count has no noise: each difference is a change.
TEST(History, names_steps_and_patterns_of_exact_counts) {
  const TemporaryFile file("bench.db"), page("page.html");
  int number = 0;
  for (const char* const rounds : {"100", "100", "200", "100", "101", "102", "103"})
    ASSERT_EQ(tally({"stat", "-q", "--repeatable", "-e", "instructions", "--history", file.path(), "--name", "loop",
                     "--label", std::to_string(++number), "-o", "/dev/null", "--", "sh", "-c",
                     "i=0; while [ $i -lt \"$0\" ]; do i=$((i + 1)); done", rounds})
                  .code(),
              0);
  const Json series = Json::parse(tally({"history", file.path(), "--format", "json"}).out)["series"][0];
  ASSERT_EQ(series["changes"].size(), 5u) << series;
  EXPECT_EQ(series["changes"][0]["before"], series["values"][1]["value"]);
  ASSERT_EQ(series["patterns"].size(), 2u) << series;
  EXPECT_EQ(series["patterns"][0]["pattern"], "spike");
  EXPECT_EQ(series["patterns"][0]["result"], 3);
  EXPECT_EQ(series["patterns"][1]["pattern"], "creep");
  EXPECT_EQ(series["patterns"][1]["steps"], 3);
  EXPECT_EQ(series["patterns"][1]["last_result"], 7);
  EXPECT_EQ(series["patterns"][1]["after"], series["values"][6]["value"]);
  const std::string table = tally({"history", file.path()}).out;
  EXPECT_TRUE(holds(table, " spike ") && holds(table, " creep ")) << table;
  ASSERT_EQ(tally({"report", file.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(*page.content(), "<td>creep</td>"));
}

// Each step is below the limit of a gate, and their sum is above that of the history.
// In a directory without git, results are named by their labels.
// One iteration of 20,000 is 0.005 %.
TEST(History, leaves_out_tiny_steps_of_single_runs_that_read_a_clock) {
  const TemporaryFile file("bench.db");
  const Words shell{"sh", "-c", "date >/dev/null; i=0; while [ $i -lt \"$0\" ]; do i=$((i + 1)); done"};
  for (const auto& [name, program] : {std::pair{"plain", Words{"seq"}}, {"clock", shell}})
    for (const char* const rounds : {"20000", "20001", "20100"})
      ASSERT_EQ(tally(with(with({"stat", "-q", "--repeatable", "-e", "instructions", "--history", file.path(), "--name",
                                 name, "-o", "/dev/null", "--"},
                                program),
                           {rounds}))
                    .code(),
                0);
  const Json series = Json::parse(tally({"history", file.path(), "--format", "json"}).out)["series"];
  ASSERT_EQ(series.size(), 2u) << series;
  EXPECT_EQ(series[0]["changes"].size(), 2u) << series;
  EXPECT_EQ(series[1]["changes"].size(), 1u) << series;
}

TEST(History, fails_for_slow_growth_and_names_the_commits) {
  const TemporaryFile file("bench.db");
  for (const char* const rounds : {"1000", "1000", "1005", "1010", "1010", "1025"})
    ASSERT_EQ(Running({"/usr/bin/env", "-C",        "/",
                       TALLY_COMMAND,  "stat",      "-q",
                       "--repeatable", "-e",        "instructions",
                       "--history",    file.path(), "--name",
                       "loop",         "--label",   std::string("n") + rounds,
                       "-o",           "/dev/null", "--",
                       "sh",           "-c",        "i=0; while [ $i -lt \"$0\" ]; do i=$((i + 1)); done",
                       rounds})
                  .finish()
                  .code(),
              0);
  const auto judged = [&](const char* limit) { return tally({"history", file.path(), "--fail-above", limit}); };
  const Finished failed = judged("1%/20");
  EXPECT_EQ(failed.code(), 1) << failed.err;
  EXPECT_TRUE(holds(failed.err, "failed: instructions:u of loop: +") && holds(failed.err, "over the last 5 results") &&
              holds(failed.err, "at n1005, +") && holds(failed.err, "at n1010, +") &&
              holds(failed.err, "at n1025; above 1%/20"))
      << failed.err;
  EXPECT_EQ(judged("instructions=1%/5").code(), 1);
  EXPECT_EQ(judged("1%/2").code(), 1);
  EXPECT_EQ(judged("1%/2").err.find("n1005"), std::string::npos) << "before these results";
  const Finished passed = judged("5%/20");
  EXPECT_EQ(passed.code(), 0);
  EXPECT_TRUE(holds(passed.err, "passed: no count of 1 series grew by more than 5%/20")) << passed.err;
  for (const char* const wrong : {"5%", "/20", "x%/20", "5%/0", "5%/20x", "-1%/5"})
    EXPECT_EQ(judged(wrong).code(), 2) << wrong;
  EXPECT_EQ(judged("loads=5%/20").code(), 2) << "not in the history";
}

// Counts of other settings are no change of the program.
TEST(History, keeps_results_of_other_settings_apart) {
  const TemporaryFile file("bench.db"), page("page.html");
  const auto count = [&](const char* label, const Words& more) {
    return tally(with(with({"stat", "-q", "-e", "instructions", "--history", file.path(), "--name", "loop", "--label",
                            label, "-o", "/dev/null"},
                           more),
                      {"--", "true"}))
        .code();
  };
  ASSERT_EQ(count("one", {"--repeatable"}), 0);
  ASSERT_EQ(count("two", {"--repeatable", "--cpu-model", "haswell"}), 0);
  ASSERT_EQ(count("three", {"--repeatable"}), 0);
  const Json json = Json::parse(tally({"history", file.path(), "--format", "json"}).out);
  ASSERT_EQ(json["series"].size(), 2u) << json;
  EXPECT_EQ(json["series"][0]["values"].size(), 2u);
  EXPECT_EQ(json["series"][0]["changes"].size(), 0u);
  EXPECT_EQ(json["series"][1]["settings"]["--cpu-model"], "haswell");
  const std::string table = tally({"history", file.path()}).out;
  EXPECT_TRUE(holds(table, "--cpu-model (the real processor → haswell)")) << table;
  EXPECT_TRUE(holds(table, "No change was found")) << table;
  const Json bencher = Json::parse(tally({"history", file.path(), "--format", "bencher"}).out);
  EXPECT_TRUE(bencher.contains("loop (--cpu-model haswell)")) << bencher;
  ASSERT_EQ(tally({"report", file.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(*page.content(), "New series, counted with other settings"));
}

TEST(History, has_a_page) {
  const TemporaryFile file("bench.db"), page("page.html");
  for (const char* label : {"<one>", "two"}) ASSERT_EQ(tally(stored_in(file.path(), {"--label", label})).code(), 0);
  const Finished finished = tally({"report", file.path(), "-o", page.path()});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const std::string html = *page.content();
  EXPECT_TRUE(holds(html, "History: 2 results") && holds(html, "&lt;one&gt;")) << html.substr(0, 2000);
  std::string host = *TemporaryFile::read("/proc/sys/kernel/hostname");
  host.pop_back();
  EXPECT_FALSE(holds(html, "<td>" + host + "</td>"));
  EXPECT_EQ(tally({"report", "--host", file.path(), "-o", page.path()}).code(), 0);
  EXPECT_TRUE(holds(*page.content(), "<td>" + host + "</td>"));
}

TEST(History, of_several_commands_at_once_is_complete) {
  const TemporaryFile file("bench.db");
  std::vector<std::unique_ptr<Running>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(std::make_unique<Running>(tally_words(stored_in(file.path(), {"--label", std::to_string(i)}))));
  for (const auto& one : all) EXPECT_EQ(one->finish().code(), 0);
  const Json json = Json::parse(tally({"history", file.path(), "--format", "json"}).out);
  EXPECT_EQ(json["series"][0]["values"].size(), 6u);
}

TEST(History, does_not_store_a_failed_program) {
  const TemporaryFile file("bench.db");
  Words words = stored_in(file.path());
  words.back() = "false";
  const Finished failed = tally(words);
  EXPECT_EQ(failed.code(), 1);
  EXPECT_TRUE(holds(failed.err, "not stored in")) << failed.err;
  EXPECT_TRUE(holds(tally({"history", file.path()}).out, "contains no counts"));
}

TEST(History, is_checked_before_the_program_runs) {
  const TemporaryFile text("text.db", "not a history, but longer than a header of SQLite: " + std::string(200, 'x')),
      marker("marker");
  Words words = stored_in(text.path());
  words.back() = "touch";
  words.push_back(marker.path());
  const Finished refused = tally(words);
  EXPECT_EQ(refused.code(), 125) << refused.err;
  EXPECT_TRUE(holds(refused.err, "is not a database")) << refused.err;
  EXPECT_FALSE(marker.content());
  EXPECT_EQ(tally({"history", text.path()}).code(), 2);
  EXPECT_EQ(tally({"history", text.folder() + "/missing.db"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--name", "x", "--", "true"}).code(), 2);
}

TEST(History, takes_what_compare_compared) {
  const TemporaryFile file("bench.db"), stat("stat.json");
  ASSERT_EQ(tally({"stat", "-q", "--backend", "none", "-e", "page-faults", "-o", stat.path(), "--", "true"}).code(), 0);
  for (int i = 0; i < 2; ++i) {
    const Finished compared = tally({"compare", stat.path(), stat.path(), "--history", file.path()});
    EXPECT_EQ(compared.code(), 0) << compared.err;
  }
  const Json json = Json::parse(tally({"history", file.path(), "--format", "json"}).out);
  EXPECT_EQ(json["series"][0]["values"].size(), 1u) << "the same result is stored once";
}

}  // namespace
}  // namespace tally::test
