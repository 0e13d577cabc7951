// `tally watch --batch`: on this machine, and on one made of files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  for (const std::string& line : split(trimmed(text), '\n')) lines.push_back(Json::parse(line, nullptr, false));
  return lines;
}

TEST(Watch, a_table_with_a_header_and_the_reasons_below) {
  const Finished finished = tally({"watch", "--batch", "-n", "1", "-I", "100"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  for (const char* part :
       {"Processor information", "Num sockets: ", " Core  SKT  UTIL", "\n  SYS", "Time (TSC): ", "tally itself: "}) {
    EXPECT_NE(finished.out.find(part), std::string::npos) << part << "\n" << finished.out;
  }
}

TEST(Watch, each_cell_has_a_value_or_a_reason) {
  const Finished finished = tally(
      {"watch", "--batch", "-n", "2", "-I", "50", "--format", "json", "--per", "core,socket,system,process,group"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto lines = lines_of(finished.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].at("line"), "header");
  for (const Json& fact : lines[0].at("facts"))
    EXPECT_NE(fact.at("text").is_null(), fact.at("reason").is_null()) << fact;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].at("schema"), "tally-watch/1");
    for (const Json& row : lines[i].at("rows")) {
      EXPECT_EQ(row.at("values").size(), lines[i].at("columns").size());
      for (const auto& [column, value] : row.at("values").items()) {
        EXPECT_NE(value.is_null(), !row.at("absent").contains(column)) << column << row;
        if (!value.is_null()) continue;
        EXPECT_TRUE(lines[i].at("reasons").contains(row.at("absent").at(column)));
      }
    }
  }
}

TEST(Watch, reports_reasons_of_shown_columns_and_that_no_row_matches) {
  const Finished some =
      tally({"watch", "--batch", "-n", "1", "-I", "50", "--per", "process", "--columns", "UTIL,MEM", "--rows", "1"});
  EXPECT_EQ(some.out.find("L3MISS"), std::string::npos) << some.out;
  const Finished none = tally({"watch", "--batch", "-n", "1", "-I", "50", "--per", "process", "--filter", "no:such"});
  EXPECT_NE(none.out.find("No row matches --filter no:such."), std::string::npos) << none.out;
}

TEST(Watch, csv_has_as_many_fields_in_each_row_as_in_its_header) {
  const Finished finished = tally({"watch", "--batch", "-n", "2", "-I", "50", "--format", "csv"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto rows = split(trimmed(finished.out), '\n');
  ASSERT_GT(rows.size(), 3u);
  EXPECT_TRUE(rows[0].starts_with("time_ns,interval_ns,kind,name,command,processor,socket,process,UTIL,USER,"))
      << rows[0];
  for (const std::string& row : rows) EXPECT_EQ(split(row, ',').size(), split(rows[0], ',').size()) << row;
}

TEST(Watch, ends_with_its_command_and_its_exit_code) {
  const Finished finished = tally({"watch", "--batch", "-I", "50", "--", "sh", "-c", "echo out; exit 7"});
  EXPECT_EQ(finished.code(), 7) << finished.err;
  EXPECT_EQ(finished.out, "out\n") << "the command's own";
  EXPECT_NE(finished.err.find("SYS"), std::string::npos) << "one table at least";
  EXPECT_EQ(tally({"watch", "--batch", "--", "no-such-program"}).code(), 127);
  EXPECT_EQ(tally({"watch", "--batch", "-n", "1", "-I", "10", "--", "sh", "-c", "sleep 0.1; exit 3"}).code(), 3)
      << "the tables end before it";
}

TEST(Watch, goes_on_if_the_recording_cannot_be_written) {
  const Finished full = tally({"watch", "--batch", "--format", "csv", "-I", "50", "-n", "3", "--record", "/dev/full"});
  EXPECT_EQ(full.code(), 125);
  EXPECT_EQ(full.err.find("No space left on device"), full.err.rfind("No space left on device")) << full.err;
  EXPECT_GE(split(trimmed(full.out), '\n').size(), 4u) << full.out;
}

TEST(Watch, an_interrupt_ends_it) {
  Running watch(tally_words({"watch", "--batch", "-I", "20"}));
  ASSERT_TRUE(watch.wait_for_output("SYS"));
  watch.signal(2);
  EXPECT_EQ(watch.finish().code(), -2);
}

TEST(Watch, what_cannot_be_parsed_is_refused) {
  for (const Words& words : {Words{"--per", "cores"}, Words{"--sort", "BOGUS"}, Words{"-C", "x"}, Words{"-C", "99999"},
                             Words{"-n", "0"}, Words{"--formt", "csv"}, Words{"-I", "1"}}) {
    const Finished finished = tally(with({"watch", "--batch"}, words));
    EXPECT_EQ(finished.code(), 2) << words[0] << finished.err;
    EXPECT_EQ(finished.out, "");
  }
  const Finished nowhere = tally({"watch", "--batch", "--root", "/nowhere"});
  EXPECT_EQ(nowhere.code(), 125) << nowhere.err;
}

}  // namespace
}  // namespace tally::test
