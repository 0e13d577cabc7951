#include "tally/output/result/stored_windows.hpp"

#include <gtest/gtest.h>

#include "tally/output/result/stored_hpctool.hpp"

namespace tally::result {
namespace {

const std::string csv =
    "series,number,time_ns,length,program,process,thread,cpu,instructions:u,cycles:u,loads:u,trigger,address,lost,"
    "trust\r\n"
    "1,1,1000,500,\"a \"\"b\"\", c\",10,11,0,500,,7,instructions:u,0x401000,0,exact\r\n"
    "2,1,1500,500,sh,12,12,,500,,9,instructions:u,,3,exact\r\n"
    "1,2,2000,20,\"a \"\"b\"\", c\",10,11,1,20,,1,end,,0,partial\r\n";

const std::string json_lines =
    R"({"schema":"tally-windows/1","command":["./prog"],"every":[{"event":"instructions:u","count":500}],"events":[)"
    R"({"name":"instructions:u","asked":"instructions","trust":"exact"},)"
    R"({"name":"cycles:u","asked":"cycles","trust":"absent","reason":"no model"},)"
    R"({"name":"task-clock","asked":"task-clock","trust":"counted","unit":"nanoseconds"}]})"
    "\n"
    R"({"series":1,"number":1,"time_ns":1000,"length":500,"program":"a","process":10,"thread":11,"cpu":0,"counts":)"
    R"({"instructions:u":500,"cycles:u":null,"task-clock":7},"trigger":"instructions:u","address":"0x401000","lost":0,"trust":"exact"})"
    "\n"
    R"({"series":1,"number":2,"time_ns":2000,"length":20,"program":"a","process":10,"thread":11,"cpu":null,"counts":)"
    R"({"instructions:u":20,"cycles:u":null,"task-clock":1},"trigger":"end","address":null,"lost":0,"trust":"partial"})"
    "\n";

TEST(StoredWindows, a_csv_is_read_thread_by_thread) {
  const auto read = read_windows_text(csv, "w.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->rows(), 3u);
  ASSERT_EQ(read->series.size(), 2u);
  const WindowSeries& first = read->series[0];
  EXPECT_EQ(first.program, "a \"b\", c");
  EXPECT_EQ(first.tid, 11);
  EXPECT_EQ(first.times, (std::vector<std::int64_t>{1000, 2000}));
  EXPECT_EQ(first.addresses, (std::vector<std::int64_t>{0x401000, 0}));
  EXPECT_EQ(first.triggers, (std::vector<std::int64_t>{0, -1}));
  EXPECT_EQ(first.partial, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(first.counts, (std::vector<std::vector<std::int64_t>>{{500, 20}, {7, 1}}));
  EXPECT_EQ(read->series[1].lost, std::vector<std::int64_t>{3});
  EXPECT_EQ(read->head.events[1].count.trust, Trust::absent) << "absent is never 0";
  EXPECT_EQ(read->head.places[2], 1u);
  EXPECT_EQ(read->head.events[0].count.trust, Trust::exact);
  ASSERT_EQ(read->head.triggers.size(), 1u);
  EXPECT_EQ(read->head.triggers[0].every, 0u) << "a CSV does not contain it";
}

TEST(StoredWindows, the_description_of_a_csv_adds_information) {
  const std::string description =
      R"({"schema":"tally-windows/1","command":["./prog"],"every":[{"event":"instructions:u","count":500}],"events":[)"
      R"({"name":"instructions:u","asked":"instructions","trust":"exact"},)"
      R"({"name":"cycles:u","asked":"cycles","trust":"absent","reason":"no model"},)"
      R"({"name":"loads:u","asked":"loads","trust":"exact"}]})";
  const auto read = read_windows_text(csv, "w.csv", description);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.events[1].count.reason, "no model");
  EXPECT_EQ(read->head.triggers[0].every, 500u);
  const auto of_others = read_windows_text(csv, "w.csv", json_lines.substr(0, json_lines.find('\n')));
  ASSERT_TRUE(of_others);
  EXPECT_EQ(of_others->head.triggers[0].every, 0u) << "it describes other columns";
}

TEST(StoredWindows, json_lines_are_read) {
  const auto read = read_windows_text(json_lines, "w.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->series.size(), 1u);
  EXPECT_EQ(read->head.command, std::vector<std::string>{"./prog"});
  EXPECT_EQ(read->head.events[1].count.reason, "no model");
  EXPECT_EQ(read->head.events[2].unit, Unit::nanoseconds);
  EXPECT_EQ(read->series[0].counts, (std::vector<std::vector<std::int64_t>>{{500, 20}, {7, 1}}));
  EXPECT_EQ(read->series[0].triggers, (std::vector<std::int64_t>{0, -1}));
}

TEST(StoredWindows, the_last_line_of_json_lines_has_the_trust) {
  std::string last = json_lines.substr(0, json_lines.find('\n') + 1), first = last;
  last.replace(last.find(R"("exact")"), 7, R"("partial","reason":"killed")");
  const auto read = read_windows_text(json_lines + last, "w.jsonl");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->head.events[0].count.reason, "killed");
  EXPECT_EQ(read->rows(), 2u);
  first.erase(first.find(R"(,"trust":"exact")"), 16);
  const auto cut = read_windows_text(first + json_lines.substr(json_lines.find('\n') + 1), "w.jsonl");
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->head.events[0].count.trust, Trust::partial);
  const auto other = read_windows_text(
      json_lines + R"({"schema":"tally-windows/1","command":[],"every":[],"events":[]})" + "\n", "w.jsonl");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("it describes other events"), std::string::npos);
}

TEST(StoredWindows, functions_and_lines_are_read_if_present) {
  std::string named = csv;
  named.replace(named.find("address,lost"), 12, "address,function,line,lost");
  named.replace(named.find("0x401000,0"), 10, "0x401000,\"f(int, char)\",a.c:7,0");
  named.replace(named.find("instructions:u,,3"), 17, "instructions:u,,,,3");
  named.replace(named.find("end,,0"), 6, "end,,,,0");
  const auto read = read_windows_text(named, "w.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->head.named);
  const WindowSeries& first = read->series[0];
  EXPECT_EQ(read->words[first.functions[0]], "f(int, char)");
  EXPECT_EQ(read->words[first.lines[0]], "a.c:7");
  EXPECT_EQ(read->words[first.functions[1]], "");
  EXPECT_EQ(first.partial, (std::vector<std::int64_t>{0, 1}));
  std::string lines = json_lines;
  lines.replace(lines.find("\"lost\":0"), 8, "\"function\":\"main\",\"line\":null,\"lost\":0");
  const auto json = read_windows_text(lines, "w.jsonl");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_FALSE(read_windows_text(csv, "w.csv")->head.named);
}

TEST(StoredWindows, an_invalid_window_is_reported_with_its_line) {
  std::string broken = csv;
  broken.replace(broken.find(",9,"), 3, ",x,");
  const auto read = read_windows_text(broken, "w.csv");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "'w.csv', line 3: 'x' is not a count of loads:u");
  broken = json_lines;
  broken.replace(broken.find("\"series\":1"), 10, "\"series\":\"\"");
  const auto other = read_windows_text(broken, "w.jsonl");
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().message.starts_with("'w.jsonl', line 2: ")) << other.error().message;
}

TEST(StoredWindows, impossible_numbers_are_reported_with_their_line) {
  const auto wrong = [](const std::string& text, const std::string& was, const std::string& with) {
    std::string broken = text;
    broken.replace(broken.find(was), was.size(), with);
    const auto read = read_windows_text(broken, "w");
    return read ? "read" : read.error().message;
  };
  EXPECT_EQ(wrong(csv, ",9,", ",-9,"), "'w', line 3: the count of loads:u, -9, is negative");
  EXPECT_EQ(wrong(csv, ",9,", ",9223372036854775808,"), "'w', line 3: '9223372036854775808' is not a count of loads:u");
  EXPECT_EQ(wrong(csv, ",9,", ",9223372036854775807,"),
            "'w', line 3: the sum of the counts of loads:u exceeds 2^63 - 1");
  EXPECT_EQ(wrong(csv, "1500,500", "1500,-1"), "'w', line 3: the length -1 is negative");
  EXPECT_EQ(wrong(json_lines, "\"series\":1", "\"series\":-1").substr(0, 13), "'w', line 2: ");
  EXPECT_EQ(wrong(json_lines, "\"series\":1", "\"series\":4294967297").substr(0, 13), "'w', line 2: ");
  EXPECT_EQ(wrong(json_lines, "\"task-clock\":7", "\"task-clock\":9223372036854775808").substr(0, 13), "'w', line 2: ");
}

TEST(StoredWindows, a_quote_that_is_never_closed_hides_no_columns) {
  const auto read = read_windows_text(
      "series,number,time_ns,length,program,process,thread,cpu,\"a,trigger,address,lost,trust\r\n", "w.csv");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "'w.csv', line 1: columns are missing");
}

TEST(StoredWindows, complete_rows_of_a_truncated_file_are_kept) {
  const auto cut = read_windows_text(csv.substr(0, csv.size() - 12), "w.csv");
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->rows(), 2u);
  EXPECT_EQ(cut->notices.size(), 1u);
  const auto json = read_windows_text(json_lines.substr(0, json_lines.size() - 12), "w.jsonl");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->rows(), 1u);
  EXPECT_EQ(json->notices.size(), 1u);
}

TEST(StoredWindows, formats_are_recognised_by_how_a_file_begins) {
  EXPECT_EQ(windows_form(csv), WindowsForm::csv);
  EXPECT_EQ(windows_form(json_lines), WindowsForm::json_lines);
  EXPECT_EQ(windows_form("ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n"), WindowsForm::hpctool);
  EXPECT_EQ(windows_form("run,interval_ns,pid\n"), WindowsForm::none);
}

std::string hpctool(const std::vector<std::int64_t>& lengths) {
  std::string text = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";
  for (const std::int64_t length : lengths) text += std::to_string(length) + ",0,150,1,2,3,4\r\n";
  return text;
}

TEST(StoredWindows, the_description_of_hpctools_rows_provides_their_trust) {
  const auto read = read_windows_text(
      hpctool({500, 500, 20}), "h.csv",
      R"({"schema":"tally-windows/1","command":["./prog"],"every":[{"event":"instructions:u","count":500}],"events":[)"
      R"({"name":"instructions:u","asked":"instructions","trust":"counted"}],"columns":{"ins":"instructions:u"},)"
      R"("rows":{"totals":[1020,0,450,3,6,9,12],"threads":[{"series":4,"process":7,"thread":8,"program":"a"},)"
      R"({"series":5,"process":9,"thread":9,"program":"b"}],"thread":[0,1,0],"time_ns":[1,2,3],"trigger":[0,0,-1]}})");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->series.size(), 2u);
  EXPECT_EQ(read->series[0].tid, 8);
  EXPECT_EQ(read->series[0].times, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(read->series[0].triggers, (std::vector<std::int64_t>{0, -1}));
  EXPECT_EQ(read->series[1].program, "b");
  EXPECT_EQ(read->head.triggers[0].every, 500u);
  EXPECT_EQ(read->head.events[0].count.trust, Trust::counted);
  EXPECT_TRUE(read->notices.empty());
}

TEST(StoredWindows, a_description_of_other_rows_of_hpctool_does_not_raise_trust) {
  for (
      const char* const rows :
      {"",
       R"(,"rows":{"totals":[1021,0,450,3,6,9,12],"threads":[{"series":4,"process":7,"thread":8,"program":"a"}],)"
       R"("thread":[0,0,0],"time_ns":[1,2,3],"trigger":[0,0,-1]})",
       R"(,"rows":{"totals":[1020,0,450,3,6,9,12],"threads":[],"thread":[0,0,0],"time_ns":[1,2,3],"trigger":[0,0,1]})"}) {
    const auto read = read_windows_text(
        hpctool({500, 500, 20}), "h.csv",
        std::string(R"({"schema":"tally-windows/1","command":["./prog"],"every":[{"event":"loads:u","count":5}],)") +
            R"("events":[{"name":"loads:u","asked":"loads","trust":"exact"}],"columns":{"event1":"loads:u"})" + rows +
            "}");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->head.events[3].name.text(), "loads:u");
    EXPECT_EQ(read->head.events[3].count.trust, Trust::partial);
    EXPECT_NE(read->notices.back().find("describes other rows"), std::string::npos);
  }
}

TEST(StoredWindows, rows_of_hpctool_are_windows_if_only_the_last_is_short) {
  EXPECT_TRUE(are_hpctool_windows(hpctool({50005, 50085, 50205, 5690})));
  EXPECT_FALSE(are_hpctool_windows(hpctool({50005, 50085, 50205}))) << "runs of one program";
  EXPECT_FALSE(are_hpctool_windows(hpctool({10, 50000, 70000, 600})));
  EXPECT_FALSE(are_hpctool_windows(hpctool({50005, 5690})));
  const auto read =
      read_windows_text(hpctool({50005, 50085, 50205, 5690}), "h.csv", R"({"columns":{"event1":"branches:u"}})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->rows(), 4u);
  EXPECT_EQ(read->head.events[1].count.trust, Trust::absent) << "a counter that is always 0 did not count";
  EXPECT_EQ(read->head.events[3].name.text(), "branches:u");
  EXPECT_EQ(read->notices.size(), 3u) << "mode unknown, steps of 150, no threads";
  EXPECT_EQ(read->series[0].triggers, (std::vector<std::int64_t>{0, 0, 0, -1}));
}

}  // namespace
}  // namespace tally::result
