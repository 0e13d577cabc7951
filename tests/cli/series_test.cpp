// `tally stat -r N`: a series of runs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

struct Series {
  Finished finished;
  json result;
};

Series series(Words words) {
  const TemporaryFile file("result.json");
  words.insert(words.begin(),
               {"stat", "--backend", "none", "-e", "page-faults,loads", "--format", "json", "-o", file.path()});
  Series series;
  series.finished = tally(words);
  series.result = json::parse(file.content().value_or("no file"));
  return series;
}

TEST(Repeat, prints_the_median_its_interval_and_the_extremes) {
  const json event = series({"-r", "6", "--", "true"}).result["events"][0];
  ASSERT_EQ(event["runs"].size(), 6u);
  std::vector<std::int64_t> values = event["runs"];
  std::sort(values.begin(), values.end());
  EXPECT_EQ(event["min"], values.front());
  EXPECT_EQ(event["max"], values.back());
  EXPECT_EQ(event["median"], static_cast<double>(values[2] + values[3]) / 2);
  EXPECT_EQ(event["low"], values.front());
  EXPECT_EQ(event["high"], values.back());
  EXPECT_EQ(event["interval_percent"], 96.875);
  EXPECT_TRUE(event["interval_reason"].is_null());
}

TEST(Repeat, has_no_interval_for_five_and_says_why) {
  const json event = series({"-r", "5", "--", "true"}).result["events"][0];
  EXPECT_TRUE(event["low"].is_null());
  EXPECT_TRUE(event["high"].is_null());
  EXPECT_TRUE(event["median"].is_number());
  EXPECT_TRUE(event["interval_reason"].is_string());
}

TEST(Repeat, absent_stays_absent_in_every_statistic) {
  const json event = series({"-r", "6", "--", "true"}).result["events"][1];
  for (const char* key : {"value", "median", "low", "high", "min", "max"}) EXPECT_TRUE(event[key].is_null()) << key;
  for (const json& value : event["runs"]) EXPECT_TRUE(value.is_null());
  EXPECT_EQ(event["trust"], "absent");
}

TEST(Repeat, the_first_failure_ends_the_series) {
  const TemporaryFile counter("runs", "");
  const std::string script = "echo x >> " + counter.path() + "; [ $(wc -l < " + counter.path() + ") -lt 3 ] || exit 4";
  const Series one = series({"-r", "5", "--", "sh", "-c", script});
  EXPECT_EQ(one.finished.code(), 4);
  EXPECT_EQ(one.result["exit_code"], 4);
  EXPECT_EQ(one.result["runs"].size(), 3u);
  EXPECT_EQ(one.result["incomplete"], true);
  EXPECT_EQ(counter.content(), "x\nx\nx\n");
}

TEST(Repeat, keep_going_continues_and_keeps_the_first_exit_code) {
  const TemporaryFile counter("runs", "");
  const std::string script =
      "echo x >> " + counter.path() + "; n=$(wc -l < " + counter.path() + "); [ $n -lt 2 ] || exit $n";
  const Series one = series({"-r", "4", "--keep-going", "--", "sh", "-c", script});
  EXPECT_EQ(one.finished.code(), 2);
  EXPECT_EQ(one.result["runs"].size(), 4u);
  EXPECT_EQ(one.result["incomplete"], false);
  EXPECT_EQ(one.result["runs"][3]["exit_code"], 4);
}

}  // namespace
}  // namespace tally::test
