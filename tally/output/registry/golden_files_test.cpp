// Every format of every kind of result, compared with golden files.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tally/core/base/full_run_testing.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/result/golden_testing.hpp"
#include "tally/output/result/sample_stat_testing.hpp"
#include "tally/output/result/stored.hpp"

namespace tally::output {
namespace {

struct Case {
  const char* name;
  result::Stat (*stat)();
  Style style;
};

// The name that GoogleTest requires.
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }  // NOLINT(readability-identifier-naming)

result::Stat series() { return sample_series(6); }

const Case cases[] = {{"one-run", sample, {}},
                      {"metrics", sample_with_metrics, {}},
                      {"corrected", sample_corrected, {}},
                      {"series", series, {}},
                      {"processes", sample_processes, {true, false}},
                      {"threads", sample_processes, {true, true}},
                      {"hpctool", sample_hpctool, {}}};

class Golden : public testing::TestWithParam<Case> {};

TEST_P(Golden, table) {
  expect_golden(TALLY_GOLDEN, GetParam().name + std::string(".txt"), *table(GetParam().stat(), GetParam().style));
}

TEST_P(Golden, csv) {
  expect_golden(TALLY_GOLDEN, GetParam().name + std::string(".csv"), *csv(GetParam().stat(), GetParam().style));
}

TEST_P(Golden, json) {
  expect_golden(TALLY_GOLDEN, GetParam().name + std::string(".json"), *json(GetParam().stat(), GetParam().style));
}

// A stored result contains everything that any format writes.
TEST_P(Golden, is_read_as_it_was_stored) {
  const Case& one = GetParam();
  const std::string stored = *json(one.stat(), one.style);
  const auto stats = result::read_stats(stored, "golden");
  ASSERT_TRUE(stats) << stats.error().message;
  ASSERT_EQ(stats->size(), 1u);
  for (const StatFormat& format : stat_formats()) {
    const auto live = format.write(one.stat(), one.style);
    const auto read = format.write(stats->front(), one.style);
    ASSERT_EQ(live.has_value(), read.has_value()) << format.name;
    if (live) {
      EXPECT_EQ(*live, *read) << format.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Report, Golden, testing::ValuesIn(cases), [](const testing::TestParamInfo<Case>& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(GoldenFields, with_metrics) { expect_golden(TALLY_GOLDEN, "metrics.fields", *fields(sample_with_metrics(), {})); }

TEST(Stored, reports_what_is_not_a_result) {
  const struct {
    const char* text;
    const char* reason;
  } wrong[] = {
      {"", "it is empty"},
      {"{", "it ends within a value at line 1, column 2"},
      {"{", "the file is incomplete"},
      {"a,b\n1,2\n", "it is not JSON"},
      {"[]", "it is not a JSON object with a schema"},
      {"{}", "it is not a JSON object with a schema"},
      {R"({"schema":"tally-stat/3"})", "its schema is \"tally-stat/3\"; this version reads"},
      {R"({"schema":"tally-stat/2"})", "it has no key 'command'"},
      {R"({"schema":"tally-stat/2","command":["x"],"backend":7})", "/backend must be a string, but is a number"}};
  for (const auto& one : wrong) {
    const auto stats = result::read_stats(one.text, "file.json");
    ASSERT_FALSE(stats) << one.text;
    EXPECT_EQ(stats.error().code, Code::bad_usage);
    EXPECT_NE(stats.error().message.find("'file.json' is not a result"), std::string::npos);
    EXPECT_NE(stats.error().message.find(one.reason), std::string::npos) << stats.error().message;
  }
}

TEST(Stored, reports_a_process_of_a_missing_run) {
  std::string text = *json(sample_processes(), {true, false});
  const std::string place = "\"processes\": [\n    {\n      \"run\": 1,";
  const std::size_t at = text.find(place);
  ASSERT_NE(at, std::string::npos);
  for (const char* run : {"0", "9"}) {
    std::string damaged = text;
    damaged.replace(at + place.size() - 2, 1, run);
    const auto stats = result::read_stats(damaged, "damaged");
    ASSERT_FALSE(stats) << run;
    EXPECT_NE(stats.error().message.find("a run that is missing"), std::string::npos) << stats.error().message;
  }
}

TEST(Stored, one_object_a_line_is_read_as_several) {
  Style style;
  style.one_line = true;
  const auto stats = result::read_stats(*json(sample(), style) + *json(sample_series(3), style), "lines");
  ASSERT_TRUE(stats);
  ASSERT_EQ(stats->size(), 2u);
  EXPECT_EQ((*stats)[1].runs_asked, 3);
}

class Random {
 public:
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 1;
};

// Damaged text is an error that names the file, or a result that every format writes and that is read back unchanged.
// Threads of a process without values of its own are stored without it; the first reading may change their order.
void expect_error_or_result(const std::string& text) {
  const auto stats = result::read_stats(text, "damaged");
  if (!stats) {
    EXPECT_EQ(stats.error().code, Code::bad_usage) << text;
    EXPECT_NE(stats.error().message.find("damaged"), std::string::npos) << stats.error().message;
    return;
  }
  ASSERT_FALSE(stats->empty()) << text;
  for (const StatFormat& format : stat_formats()) (void)format.write(stats->front(), {true, true});
  const auto written = json(stats->front(), {true, true});
  ASSERT_TRUE(written) << text;
  const auto again = result::read_stats(*written, "again");
  ASSERT_TRUE(again) << again.error().message << " in " << *written;
  const std::string second = *json(again->front(), {true, true});
  EXPECT_EQ(second.size(), written->size());
  const auto third = result::read_stats(second, "third");
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_TRUE(*json(third->front(), {true, true}) == second) << second;
}

TEST(Stored, with_damaged_letters_is_an_error_or_a_result) {
  const std::string whole = *json(sample_processes(), {true, true});
  Random random;
  for (int round = 0; round < 400; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) text[random.below(text.size())] = "0{}[],:\"x-"[random.below(10)];
    expect_error_or_result(text);
  }
}

TEST(Stored, with_other_values_is_an_error_or_a_result) {
  const nlohmann::json others{
      nullptr, -1, 99, 1e300, "x", nlohmann::json::array(), nlohmann::json::object(), {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  Random random;
  for (const result::Stat& stat : {sample_processes(), sample_series(6), sample_with_metrics()}) {
    const auto whole = nlohmann::json::parse(*json(stat, {true, true}));
    std::vector<std::string> places;
    const auto flat = whole.flatten();
    for (const auto& [place, value] : flat.items()) places.push_back(place);
    for (int round = 0; round < test::in_full_run(1'000, 150); ++round) {
      nlohmann::json damaged = whole;
      nlohmann::json::json_pointer place(places[random.below(places.size())]);
      for (std::uint64_t up = random.below(3); up > 0 && !place.parent_pointer().empty(); --up) place.pop_back();
      damaged[place] = others[random.below(others.size())];
      expect_error_or_result(damaged.dump());
    }
  }
}

}  // namespace
}  // namespace tally::output
