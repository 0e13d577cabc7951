#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/result/sample_stat_testing.hpp"

namespace tally::output {
namespace {

TEST(Table, one_run) {
  EXPECT_EQ(*table(sample(), {}), R"(
 event                    count  per                     trust
 instructions:u   2,501,138,701                          exact
 branches:u         427,054,451  17.1 % of instructions  exact
 loads:u            702,114,020  0.281 per instruction   exact
 branch-misses:u     21,113,040                          model gshare
 cycles:u                   400                          scaled, ran 25.0 %
 page-faults              1,204                          partial: includes the engine's
 stores:k                     -                          absent: user mode only
 peak-memory          12.40 MiB                          counted by wait4
 duration_time          7.190 s                          counted by clock

 user mode only · 1 process, 2 threads · engine

)");
}

TEST(Table, large_ratios_have_separators_and_small_ones_are_not_0) {
  result::Stat stat = sample();
  for (const auto& [value, text] :
       {std::pair{111'111.111, " 111,111.111 per"}, {9e-5, " <0.001 per"}, {0.0, " 0.000 per"}}) {
    for (result::Metric& metric : stat.metrics)
      if (metric.row_event.base == "loads") metric.ratio.value = value;
    EXPECT_NE(table(stat, {})->find(text), std::string::npos) << *table(stat, {});
  }
}

TEST(Table, processes_and_threads_have_a_row_each) {
  const std::string text = *table(sample(), {true, true});
  EXPECT_NE(text.find("\n pid  parent  tid      loads:u  trust  end     command\n"
                      "  42      41       702,114,020  exact  exit 0  bz\\x1bip2\n"
                      "  42           42  702,114,020  exact          thread main\n"
                      "  42           43  702,114,020  exact          thread worker\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(table(sample(), {true, false})->find("worker"), std::string::npos);
}

TEST(Table, a_series_shows_the_interval) {
  result::Stat stat = sample();
  stat.runs_asked = 6;
  std::vector<Count> series;
  for (const std::int64_t value : {1, 2, 3, 4, 5, 6}) series.push_back(exact(value * 1000, Source::engine));
  stat.events = {row("loads:u", exact(3'500, Source::engine))};
  stat.events[0].summary = summarize(series);
  stat.metrics.clear();
  EXPECT_EQ(*table(stat, {}),
            "\n"
            " event    median    low   high    min    max  spread    trust\n"
            " loads:u   3,500  1,000  6,000  1,000  6,000  ± 71.4 %  exact\n"
            "\n"
            " 6 runs · low to high: interval of the median, 96.9 %\n"
            " user mode only · 1 process, 2 threads · engine\n"
            "\n");
}

TEST(Table, a_reason_that_several_rows_share_is_a_footnote) {
  result::Stat stat = sample();
  const std::string long_reason(60, 'x');
  stat.events = {row("page-faults", partial(1, Source::wait4, "includes the engine's")),
                 row("peak-memory", partial(2, Source::wait4, "includes the engine's")),
                 row("user_time", partial(3, Source::wait4, "not alone")), row("loads:u", absent(long_reason))};
  stat.metrics.clear();
  EXPECT_EQ(*table(stat, {}),
            "\n"
            " event        count  trust\n"
            " page-faults      1  partial [1]\n"
            " peak-memory      2  partial [1]\n"
            " user_time        3  partial: not alone\n"
            " loads:u          -  absent [2]\n"
            "\n"
            " [1] includes the engine's\n"
            " [2] " +
                long_reason +
                "\n"
                "\n"
                " 1 process, 2 threads · engine\n"
                "\n");
}

TEST(Table, the_only_thread_of_a_process_has_no_row_of_its_own) {
  result::Stat stat = sample();
  stat.runs[0].processes[0].threads.pop_back();
  EXPECT_EQ(table(stat, {true, true})->find("thread main"), std::string::npos);
}

TEST(Table, reports_once_what_no_process_has) {
  result::Stat stat = sample();
  result::Process& process = stat.runs[0].processes[0];
  process.counts.push_back({"page-faults", {"page-faults"}, Unit::events, absent("for the whole command only")});
  process.counts.push_back({"user_time", {"user_time"}, Unit::nanoseconds, absent("for the whole command only")});
  stat.runs[0].processes.push_back(process);
  const std::string text = *table(stat, {true, false});
  EXPECT_NE(text.find("bz\\x1bip2\n\n absent by process: page-faults, user_time (for the whole command only)\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("  user_time"), std::string::npos) << text;
}

TEST(Table, equal_runs_have_no_spread) {
  result::Stat stat = sample();
  stat.events = {row("loads:u", exact(7, Source::engine))};
  stat.events[0].summary = summarize({exact(7, Source::engine), exact(7, Source::engine)});
  EXPECT_NE(table(stat, {})->find(" ± 0 "), std::string::npos);
}

TEST(Table, half_a_median_is_shown) {
  result::Stat stat = sample();
  stat.events = {row("loads:u", exact(1, Source::engine))};
  stat.events[0].summary = summarize({exact(1, Source::engine), exact(2, Source::engine)});
  EXPECT_NE(table(stat, {})->find(" 1.5 "), std::string::npos);
}

TEST(Table, prints_notices_and_a_killing_signal) {
  result::Stat stat = sample();
  stat.signal = 11;
  stat.notices = {"incomplete: interrupted by SIGINT"};
  const std::string text = *table(stat, {});
  EXPECT_NE(text.find(" the program was killed by SIGSEGV\n"), std::string::npos);
  EXPECT_NE(text.find(" note: incomplete: interrupted by SIGINT\n"), std::string::npos);
}

TEST(Grid, leaves_out_empty_columns_and_their_headings) {
  Grid grid({{"a"}, {"empty"}, {"number", Align::right}});
  grid.add({"x", "", "1"});
  grid.add({"µs", "", "22"});
  EXPECT_EQ(grid.text(), " a   number\n x        1\n µs      22\n");
}

TEST(Json, numbers_are_numbers_and_absent_is_null_with_a_reason) {
  const auto object = nlohmann::json::parse(*json(sample(), {}));
  EXPECT_EQ(object["schema"], "tally-stat/2");
  EXPECT_EQ(object["events"][0]["value"], 2'501'138'701);
  EXPECT_EQ(object["events"][0]["event"], "instructions");
  EXPECT_EQ(object["events"][0]["name"], "instructions:u");
  EXPECT_TRUE(object["events"][0]["reason"].is_null());
  EXPECT_TRUE(object["events"][6]["value"].is_null());
  EXPECT_EQ(object["events"][6]["trust"], "absent");
  EXPECT_EQ(object["events"][6]["reason"], "user mode only");
  EXPECT_EQ(object["events"][3]["model"], "gshare");
  EXPECT_EQ(object["events"][4]["raw"], 100);
  EXPECT_EQ(object["events"][4]["value"], 400);
  EXPECT_EQ(object["events"][4]["running_percent"], 25.0);
  EXPECT_TRUE(object["events"][4]["error_percent"].is_null());
  EXPECT_EQ(object["events"][8]["unit"], "ns");
  EXPECT_EQ(object["metrics"][0]["value"], 0.17074);
  EXPECT_FALSE(object["events"][0].contains("median")) << "only a series has it";
}

TEST(Json, has_processes_and_threads_only_on_request) {
  EXPECT_FALSE(nlohmann::json::parse(*json(sample(), {})).contains("processes"));
  const auto object = nlohmann::json::parse(*json(sample(), {true, true}));
  EXPECT_EQ(object["processes"][0]["pid"], 42);
  EXPECT_EQ(object["processes"][0]["events"][0]["value"], 702'114'020);
  EXPECT_EQ(object["threads"][1]["name"], "worker");
}

TEST(Json, invalid_utf8_does_not_break_it) {
  result::Stat stat = sample();
  stat.command = {"prog", "\xff\xfe"};
  EXPECT_TRUE(nlohmann::json::accept(*json(stat, {})));
}

}  // namespace
}  // namespace tally::output
