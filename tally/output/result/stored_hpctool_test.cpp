#include "tally/output/result/stored_hpctool.hpp"

#include <gtest/gtest.h>

namespace tally::result {
namespace {

const std::string header = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";

constexpr const char* as_reported = "copied from the file, which does not name the backend";

Stat read(const std::string& rows, const std::string& description = "") {
  const auto stats = read_hpctool(header + rows, "file.csv", description);
  EXPECT_TRUE(stats) << (stats ? "" : stats.error().message);
  return stats && stats->size() == 1 ? stats->front() : Stat{};
}

std::string refusal(const std::string& rows) {
  const auto stat = read_hpctool(header + rows, "file.csv");
  if (stat) return "accepted";
  EXPECT_EQ(stat.error().code, Code::bad_usage);
  return stat.error().message;
}

bool has_notice(const Stat& stat, const std::string& words) {
  for (const std::string& notice : stat.notices) {
    if (notice.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(HpcToolFile, is_recognised_by_its_columns) {
  EXPECT_TRUE(is_hpctool(header));
  EXPECT_TRUE(is_hpctool("ins,l_cycle,ref_cycle,event1,event2,event3,event4\n1,2,3,4,5,6,7\n"));
  EXPECT_FALSE(is_hpctool("ins,l_cycle,ref_cycle,event1\n"));
  EXPECT_FALSE(is_hpctool("{}"));
  EXPECT_FALSE(is_hpctool(""));
}

// The row of HPCTool's polling sample file.
TEST(HpcToolFile, one_row_is_one_run) {
  const Stat stat = read("7890,0,65550,1777,145,2302,1917\r\n");
  ASSERT_EQ(stat.events.size(), 7u);
  EXPECT_EQ(stat.events[0].total.name.text(), "instructions");
  EXPECT_EQ(stat.events[0].total.count, partial(7890, Source::none, as_reported));
  EXPECT_EQ(stat.events[2].total.count.value, 65550);
  EXPECT_EQ(stat.events[6].total.count.value, 1917);
  EXPECT_EQ(stat.events[1].total.count.trust, Trust::absent) << "its core cycles are 0 in every row";
  EXPECT_FALSE(stat.events[0].summary);
  EXPECT_EQ(stat.runs_asked, 1);
  EXPECT_FALSE(has_notice(stat, "ref_cycle")) << "one row cannot show a step";
}

// Rows of HPCTool's sampling file: the first ones, the shortest and the longest overrun, the last.
TEST(HpcToolFile, reports_conspicuous_rows) {
  const Stat stat = read(
      "50039,0,190500,9803,477,4240,1512\r\n50086,0,86700,12871,371,2215,593\r\n50024,0,45450,12711,188,321,131\r\n"
      "50005,0,55800,10845,263,477,110\r\n50205,0,43350,12352,92,1326,47\r\n5690,0,19650,1174,98,648,380\r\n");
  EXPECT_EQ(stat.runs_asked, 6);
  EXPECT_EQ(stat.events[0].summary->min, 5690);
  EXPECT_EQ(stat.events[0].summary->max, 50205);
  EXPECT_EQ(stat.events[0].total.count.value, 50031) << "the median, rounded down";
  EXPECT_EQ(stat.events[1].total.count.reason, "0 in every row: this counter did not count");
  EXPECT_TRUE(has_notice(stat, "ref_cycle is a multiple of 150 in every row"));
  EXPECT_TRUE(has_notice(stat, "user mode or the kernel"));
  EXPECT_TRUE(has_notice(read("1,5,7,0,0,0,0\n2,5,9,0,0,0,0\n"), "l_cycle is 5 in every row"));
  EXPECT_FALSE(has_notice(read("1,5,7,0,0,0,0\n2,6,9,0,0,0,0\n"), "in every row"));
}

TEST(HpcToolFile, an_event_may_never_happen_and_no_count_is_negative) {
  const Stat stat = read("1,2,3,0,-5,6,7\n");
  EXPECT_EQ(stat.events[3].total.count.value, 0);
  EXPECT_EQ(stat.events[4].total.count.trust, Trust::absent);
  EXPECT_NE(stat.events[4].total.count.reason.find("signed"), std::string::npos);
}

TEST(HpcToolFile, tallys_description_names_the_events) {
  const Stat stat = read("1,2,3,4,5,6,7\n", R"({"columns": {"event1": "branches:u", "event9": "x", "event2": 3}})");
  EXPECT_EQ(stat.events[3].total.name.text(), "branches:u");
  EXPECT_EQ(stat.events[4].total.name.text(), "event2");
  for (const char* other : {"", "no JSON", "[]", "{}", R"({"columns": []})"}) {
    EXPECT_EQ(read("1,2,3,4,5,6,7\n", other).events[3].total.name.text(), "event1") << other;
  }
}

// One run with cycles from a model and other counts from a PMU, as tally describes it.
std::string description_of(std::int64_t cycles) {
  std::string events;
  const char* const names[] = {"instructions:u", "cycles:u", "ref-cycles:u", "a:u", "b:u", "c:u", "d:u"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    const std::int64_t value = i == 1 ? cycles : static_cast<std::int64_t>(i + 1);
    const std::string trust = i == 1 ? R"("modelled", "model": "mine")" : R"("counted", "source": "cpu")";
    events += (i > 0 ? ", " : "") + std::string(R"({"event": ")") + names[i] + R"(", "name": ")" + names[i] +
              R"(", "value": )" + std::to_string(value) + R"(, "trust": )" + trust + "}";
  }
  return R"({"schema": "tally-stat/2", "command": ["prog"], "backend": "engine", "environment": {}, "runs_asked": 1,
    "runs": [{"complete": true}], "metrics": [], "notices": [], "incomplete": false, "events": [)" +
         events + R"(], "columns": {"ins": "instructions:u", "l_cycle": "cycles:u", "ref_cycle": "ref-cycles:u",
    "event1": "a:u", "event2": "b:u", "event3": "c:u", "event4": "d:u"}})";
}

TEST(HpcToolFile, the_description_of_these_rows_provides_their_trust) {
  const Stat stat = read("1,2,3,4,5,6,7\n", description_of(2));
  ASSERT_EQ(stat.events.size(), 7u);
  EXPECT_EQ(stat.command, std::vector<std::string>{"prog"});
  EXPECT_EQ(stat.events[1].total.count.trust, Trust::modelled);
  EXPECT_EQ(stat.events[1].total.count.model, "mine");
  EXPECT_EQ(stat.events[0].total.count.trust, Trust::counted);
}

TEST(HpcToolFile, the_description_of_other_rows_does_not_raise_trust) {
  for (const auto& [rows, cycles] : {std::pair{"1,2,3,4,5,6,7\n", 3}, std::pair{"1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n", 2}}) {
    const Stat stat = read(rows, description_of(cycles));
    ASSERT_EQ(stat.events.size(), 7u);
    EXPECT_EQ(stat.events[3].total.name.text(), "a:u");
    EXPECT_EQ(stat.events[3].total.count.trust, Trust::partial);
    EXPECT_EQ(stat.events[3].total.count.reason, as_reported);
    EXPECT_TRUE(has_notice(stat, "describes other rows"));
  }
}

TEST(HpcToolFile, errors_are_reported_with_their_line) {
  EXPECT_EQ(refusal("1,2,3,4,5,6,7\n1,2,3\n"), "'file.csv', line 3: 3 fields instead of 7");
  EXPECT_EQ(refusal("1,2,3,4,five,6,7\n"), "'file.csv', line 2: 'five' is not an integer");
  EXPECT_EQ(refusal("1,2,3,4,5,6,99999999999999999999\n"),
            "'file.csv', line 2: '99999999999999999999' is not an integer");
  EXPECT_EQ(refusal(""), "'file.csv' has the columns of HPCTool but no rows");
}

}  // namespace
}  // namespace tally::result
