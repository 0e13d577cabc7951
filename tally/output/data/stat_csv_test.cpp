#include "tally/output/kit/csv_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/process_end.hpp"
#include "tally/output/result/sample_stat_testing.hpp"

namespace tally::output {
namespace {

using Row = std::vector<std::string>;
using Table = std::vector<std::map<std::string, std::string>>;

// The rows below the header, by column name.
Table read(std::string_view text, char separator = ',') {
  Table table;
  const Row header = take_csv_row(text, separator).value_or(Row{});
  for (auto row = take_csv_row(text, separator); row; row = take_csv_row(text, separator)) {
    EXPECT_EQ(row->size(), header.size());
    auto& cells = table.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) cells[header[i]] = i < row->size() ? (*row)[i] : "";
  }
  return table;
}

TEST(CsvRow, quotes_what_would_be_misread) {
  EXPECT_EQ(csv_row({"a", "b,c", "say \"so\"", "two\nlines", "", "\xff"}, ","),
            "a,\"b,c\",\"say \"\"so\"\"\",two\\nlines,,\xEF\xBF\xBD");
  EXPECT_EQ(csv_row({"b,c", "d;e"}, ";"), "b,c;\"d;e\"");
}

TEST(CsvRow, is_read_as_it_was_written) {
  const std::string alphabet = "a,\"\r\n;x";
  std::uint64_t state = 7;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 5'000; ++round) {
    std::vector<Row> rows(1 + random(3));
    std::string text;
    for (Row& row : rows) {
      row.resize(1 + random(4));
      for (std::string& field : row) {
        for (std::uint64_t i = random(5); i > 0; --i) field += alphabet[random(alphabet.size())];
      }
      text += csv_row(row, ",") + "\r\n";
    }
    std::string_view rest = text;
    for (Row& row : rows) {
      for (std::string& field : row) field = ForeignText(field).in_line();
      EXPECT_EQ(take_csv_row(rest, ','), row) << text;
    }
    EXPECT_EQ(take_csv_row(rest, ','), std::nullopt);
  }
}

TEST(CsvRow, damaged_text_ends_it) {
  std::string_view open_quote = "a,\"b\n";
  EXPECT_EQ(take_csv_row(open_quote, ','), std::nullopt);
  std::string_view no_end = "a,b";
  EXPECT_EQ(take_csv_row(no_end, ','), (Row{"a", "b"}));
}

TEST(Csv, begins_with_the_header_of_the_contract) {
  EXPECT_TRUE(csv(sample(), {})
                  ->starts_with("run,interval_ns,pid,tid,cpu,region,event,value,trust,running_percent,"
                                "error_percent,model,reason,command,parent,end,least,most\r\n"));
}

TEST(Csv, has_the_numbers_of_the_json_and_of_the_table) {
  for (const result::Stat& stat : {sample(), sample_with_metrics(), sample_series(6), sample_processes()}) {
    const Style style{true, true};
    const auto object = nlohmann::json::parse(*json(stat, style));
    const std::string text = *table(stat, style);
    std::map<std::string, std::string> cells;
    for (const auto& row : read(*csv(stat, style))) {
      cells[row.at("run") + "/" + row.at("pid") + "/" + row.at("tid") + "/" + row.at("event")] += row.at("value") + ";";
    }
    const auto value_of = [](const nlohmann::json& value) { return value.is_null() ? ";" : value.dump() + ";"; };
    for (const auto& event : object["events"]) {
      if (event.contains("runs")) {
        for (std::size_t i = 0; i < event["runs"].size(); ++i) {
          EXPECT_EQ(cells[std::to_string(i + 1) + "///" + event["name"].get<std::string>()],
                    value_of(event["runs"][i]));
        }
      } else {
        EXPECT_EQ(cells["1///" + event["name"].get<std::string>()], value_of(event["value"]));
      }
      if (event["value"].is_null()) continue;
      const Unit unit = event["unit"] == "ns"      ? Unit::nanoseconds
                        : event["unit"] == "bytes" ? Unit::bytes
                                                   : Unit::events;
      EXPECT_NE(text.find(" " + value_text(event["value"], unit)), std::string::npos) << event;
    }
    // A process that executed another program has a row for each.
    std::map<std::string, std::string> by_process;
    for (const auto& process : object["processes"]) {
      for (const auto& event : process["events"]) {
        by_process["1/" + process["pid"].dump() + "//" + event["name"].get<std::string>()] += value_of(event["value"]);
      }
    }
    for (const auto& [place, value] : by_process) EXPECT_EQ(cells[place], value) << place;
    for (const auto& metric : object["metrics"]) {
      if (!metric["asked"]) continue;
      const auto& value = metric.contains("runs") ? metric["runs"][0] : metric["value"];
      const std::string& cell = cells["1///" + metric["metric"].get<std::string>()];
      if (value.is_null()) {
        EXPECT_EQ(cell, ";");
      } else {
        EXPECT_EQ(std::stod(cell), value.get<double>());
      }
    }
  }
}

TEST(Csv, rows_of_processes_identify_them) {
  result::Stat stat = sample_processes();
  const auto rows = read(*csv(stat, {true, true}));
  std::size_t of_processes = 0;
  for (const auto& row : rows) {
    if (row.at("pid").empty()) {
      EXPECT_EQ(row.at("command") + row.at("parent") + row.at("end"), "bzip2 -k linux.tar");
      continue;
    }
    const auto& processes = stat.runs[0].processes;
    const auto is_it = [&](const result::Process& one) {
      return std::to_string(one.pid) == row.at("pid") && one.command == row.at("command") &&
             std::to_string(one.parent_pid) == row.at("parent") && end_text(one) == row.at("end");
    };
    EXPECT_TRUE(std::any_of(processes.begin(), processes.end(), is_it)) << row.at("pid") << row.at("command");
    of_processes += row.at("tid").empty() ? 1 : 0;
  }
  EXPECT_GT(of_processes, 0u);
}

TEST(Csv, rows_of_regions_have_least_and_most) {
  RegionEvent event;
  event.event = {"instructions", Mode::user};
  event.total = exact(30, Source::engine);
  event.least = 10, event.most = 20;
  RegionResult region;
  region.name = "part";
  region.all.entries = 2;
  region.all.events = {event};
  result::Stat stat = sample();
  stat.runs[0].regions = {{7, {"/usr/bin/program", "word"}, "", {region}}};
  std::size_t found = 0;
  for (const auto& row : read(*csv(stat, {}))) {
    const bool is_event = row.at("region") == "part" && row.at("event") == "instructions:u";
    EXPECT_EQ(row.at("least"), is_event ? "10" : "") << row.at("event");
    EXPECT_EQ(row.at("most"), is_event ? "20" : "") << row.at("event");
    EXPECT_EQ(row.at("command"), row.at("region").empty() ? "bzip2 -k linux.tar" : "program");
    found += is_event ? 1 : 0;
  }
  EXPECT_EQ(found, 1u);
}

TEST(Csv, absent_is_empty_with_its_reason) {
  for (const auto& row : read(*csv(sample(), {}))) {
    EXPECT_EQ(row.at("value").empty(), row.at("trust") == "absent") << row.at("event");
    if (row.at("event") == "stores:k") {
      EXPECT_EQ(row.at("reason"), "user mode only");
    }
    if (row.at("event") == "cycles:u") {
      EXPECT_EQ(row.at("running_percent"), "25");
    }
  }
}

TEST(Csv, counts_of_an_interrupted_run_are_partial) {
  result::Stat stat = sample();
  stat.runs[0].complete = false;
  const auto rows = read(*csv(stat, {}));
  EXPECT_EQ(rows[0].at("trust"), "partial");
  EXPECT_EQ(rows[0].at("reason"), "interrupted before the end");
}

TEST(Csv, appends_to_its_own_file) {
  const std::string first = *csv(sample_series(3), {});
  const auto style = append_csv(first, {});
  ASSERT_TRUE(style);
  const std::string both = first + *csv(sample(), *style);
  std::map<std::string, int> rows;
  for (const auto& row : read(both)) ++rows[row.at("run")];
  EXPECT_EQ(rows, (std::map<std::string, int>{{"1", 4}, {"2", 4}, {"3", 4}, {"4", 9}}));
}

TEST(Csv, refuses_to_append_to_other_files) {
  for (const char* other : {"run,value\r\n1,2\r\n", "{}", "run;interval_ns\r\n", "x"}) {
    const auto style = append_csv(other, {});
    ASSERT_FALSE(style) << other;
    EXPECT_EQ(style.error().code, Code::bad_usage);
    EXPECT_NE(style.error().message.find("different header"), std::string::npos);
  }
  Style semicolons;
  semicolons.separator = ";";
  EXPECT_FALSE(append_csv(*csv(sample(), {}), semicolons)) << "the separator is part of the header";
}

TEST(Hpctool, has_the_documents_columns_in_its_order) {
  EXPECT_EQ(*hpctool(sample_hpctool(), {}),
            "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n7890,0,65550,1777,145,2302,1917\r\n");
  EXPECT_EQ(hpctool_columns(sample_hpctool())[3], (std::pair<std::string, std::string>("event1", "branches:u")));
}

TEST(Hpctool, refuses_what_it_cannot_represent) {
  EXPECT_NE(hpctool(sample(), {}).error().message.find("needs ref-cycles too"), std::string::npos);
  result::Stat stat = sample_hpctool();
  stat.runs[0].counts[2].count = absent("the counter never ran");
  const auto absent_one = hpctool(stat, {});
  ASSERT_FALSE(absent_one);
  EXPECT_EQ(absent_one.error().code, Code::bad_usage);
  EXPECT_NE(absent_one.error().message.find("branch-misses:u is absent (the counter never ran)"), std::string::npos);
  stat = sample_hpctool();
  stat.events.pop_back();
  EXPECT_NE(hpctool(stat, {}).error().message.find("exactly 4 events"), std::string::npos);
  EXPECT_FALSE(hpctool(sample_hpctool(), {true, false}));
}

TEST(Hpctool, appends_after_its_own_header) {
  const std::string first = *hpctool(sample_hpctool(), {});
  const auto style = append_hpctool(first, {});
  ASSERT_TRUE(style);
  EXPECT_EQ(*hpctool(sample_hpctool(), *style), "7890,0,65550,1777,145,2302,1917\r\n");
  EXPECT_FALSE(append_hpctool("ins,l_cycle\r\n", {}));
}

TEST(Fields, are_those_of_perf_followed_by_tallys) {
  const std::string text = *fields(sample_with_metrics(), {});
  EXPECT_NE(text.find("427054451,,branches:u,,100.00,17.074,% of instructions,exact,\n"), std::string::npos) << text;
  EXPECT_NE(text.find("400,,cycles:u,2,25.00,2.07692,IPC,scaled,\n"), std::string::npos) << text;
  EXPECT_NE(text.find("<not counted>,,stores:k,,0.00,,,absent,user mode only\n"), std::string::npos) << text;
  EXPECT_NE(text.find("13002342,bytes,peak-memory,"), std::string::npos) << text;
  EXPECT_NE(text.find(",,,,,2.07692,IPC,scaled,\n"), std::string::npos) << text;
  Style style;
  style.separator = "|";
  EXPECT_NE(fields(sample(), style)->find("427054451||branches:u||100.00|17.074|% of instructions|exact|\n"),
            std::string::npos);
  EXPECT_FALSE(fields(sample(), {true, false}));
}

TEST(Fields, of_a_series_have_its_spread) {
  const std::string text = *fields(sample_series(3), {});
  EXPECT_NE(text.find("10000,,instructions:u,0.00%,,100.00,,,exact,\n"), std::string::npos) << text;
  EXPECT_NE(text.find("2000,,loads:u,50.00%,,100.00,,,exact,\n"), std::string::npos) << text;
}

TEST(Json, appends_line_by_line) {
  Style style;
  style.one_line = true;
  const std::string line = *json(sample(), style);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(append_json(line, {})->one_line);
  EXPECT_FALSE(append_json(*json(sample(), {}), {})) << "an object in many lines";
  const auto other = append_json("{\"schema\":\"tally-stat/9\"}\n", {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("tally-stat/9"), std::string::npos);
}

}  // namespace
}  // namespace tally::output
