// `tally sample`, as a user types it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/cli/host.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Row> rows_of(const std::string& csv) {
  std::vector<Row> rows;
  std::vector<std::string> columns;
  std::istringstream text(csv);
  for (std::string line; std::getline(text, line);) {
    const auto cells = cells_of(line);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(columns.size(), cells.size()); ++i) row[columns[i]] = cells[i];
  }
  return rows;
}

struct SampleRun {
  Finished finished;
  std::vector<Row> rows;
};

SampleRun sampled(Words words) {
  const TemporaryFile file("windows.csv");
  words.insert(words.begin(), {"sample", "--backend", "engine", "-o", file.path()});
  SampleRun made;
  made.finished = tally(words);
  made.rows = rows_of(file.content().value_or(""));
  return made;
}

std::int64_t number(const Row& row, const std::string& column) { return std::stoll(row.at(column)); }

class Sample : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

TEST_F(Sample, has_full_windows_and_a_shorter_last_one) {
  const SampleRun one = sampled({"--every", "10k", "-e", "instructions,loads", "--", "true"});
  EXPECT_EQ(one.finished.code(), 0) << one.finished.err;
  ASSERT_GT(one.rows.size(), 2u);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const Row& row = one.rows[i];
    EXPECT_EQ(number(row, "number"), static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(row.at("program"), "true");
    EXPECT_EQ(row.at("trust"), "exact");
    const bool is_last = i + 1 == one.rows.size();
    EXPECT_EQ(row.at("trigger"), is_last ? "end" : "instructions:u");
    if (is_last) {
      EXPECT_LT(number(row, "instructions:u"), 10'000);
    } else {
      EXPECT_EQ(number(row, "instructions:u"), 10'000);
    }
  }
}

/// The engine reads the vdso's clock for each row while the program has its data.
TEST_F(Sample, has_times_after_the_program_unmapped_the_data_of_the_clock) {
  const SampleRun one = sampled({"--every", "10k", "--", SAMPLED, "clockless", "100000"});
  if (one.finished.code() == 3) GTEST_SKIP() << "this kernel lists no data of the vdso";
  ASSERT_EQ(one.finished.code(), 0) << one.finished.err;
  ASSERT_GT(one.rows.size(), 30u);
  for (std::size_t i = 1; i < one.rows.size(); ++i)
    EXPECT_GE(number(one.rows[i], "time_ns"), number(one.rows[i - 1], "time_ns"));
}

/// Windows by other events than instructions are also full, and several triggers alternate.
TEST_F(Sample, ends_windows_by_the_trigger_that_is_first) {
  const SampleRun one = sampled({"--every", "2000", "--by", "stores", "--every", "500", "--by", "calls", "-e",
                                 "stores,calls,instructions", "--", "true"});
  ASSERT_GT(one.rows.size(), 3u) << one.finished.err;
  std::size_t by_stores = 0, by_calls = 0;
  for (const Row& row : one.rows) {
    // A string instruction may count more than the window has left.
    if (row.at("trigger") == "stores:u") {
      by_stores++;
      EXPECT_GE(number(row, "stores:u"), 2000);
    }
    if (row.at("trigger") == "calls:u") {
      by_calls++;
      EXPECT_EQ(number(row, "calls:u"), 500);
    }
    EXPECT_LE(number(row, "calls:u"), 500);
  }
  EXPECT_GT(by_stores + by_calls, 0u);
}

TEST_F(Sample, of_a_tree_has_every_program) {
  const SampleRun one = sampled({"--every", "5k", "--", "sh", "-c", "true; (exec /bin/true); /bin/echo hello"});
  EXPECT_EQ(one.finished.out, "hello\n");
  std::map<std::string, int> programs;
  for (const Row& row : one.rows) programs[row.at("program")]++;
  EXPECT_GT(programs["true"], 0);
  EXPECT_GT(programs["echo"], 0);
}

TEST_F(Sample, writes_the_rows_of_a_program_that_waits) {
  const TemporaryFile mark("mark");
  Running waits(tally_words({"sample", "-q", "--backend", "engine", "--every", "20k", "-e", "instructions", "--format",
                             "csv", "-o", "-", "--", "sh", "-c",
                             "i=0; while [ $i -lt 500 ]; do i=$((i+1)); done; sleep 30; echo >" + mark.path()}));
  EXPECT_TRUE(waits.wait_for_output(",30,")) << waits.output();
  EXPECT_FALSE(mark.content()) << "the program went on before its rows were written";
  waits.signal_group(SIGTERM);
  waits.finish();
}

/// Every count is kept: the last row has what came after the last full window.
TEST_F(Sample, of_a_killed_program_is_whole) {
  const SampleRun one =
      sampled({"--every", "10k", "--", "sh", "-c", "i=0; while [ $i -lt 500 ]; do i=$((i+1)); done; kill -9 $$"});
  EXPECT_EQ(one.finished.code(), 137) << one.finished.err;
  ASSERT_GT(one.rows.size(), 2u);
  EXPECT_EQ(one.rows.back().at("trigger"), "end");
  EXPECT_GT(number(one.rows.back(), "instructions:u"), 0);
  // The location between two counts is unknown.
  EXPECT_EQ(one.rows.back().at("trust"), "partial");
  EXPECT_EQ(one.rows.front().at("trust"), "exact");
}

TEST_F(Sample, refuses_what_it_cannot_do) {
  const std::pair<Words, std::string> wrong[] = {
      {{"sample", "--", "true"}, "missing --every N"},
      {{"sample", "--every", "0", "--", "true"}, "--every 0"},
      {{"sample", "--every", "5x", "--", "true"}, "--every 5x"},
      {{"sample", "--every", "5", "--by", "loads,stores", "--", "true"}, "more than one event"},
      {{"sample", "--every", "5"}, "missing PROGRAM"},
      {{"sample", "--every", "5", "--backend", "engine", "--by", "cycles", "--", "true"},
       "cannot end windows by cycles"},
      {{"sample", "--every", "5", "--backend", "engine", "--format", "hpctool", "-e",
        "instructions,cycles,ref-cycles,branches:k,loads,stores,calls", "--", "true"},
       "cannot represent that branches:k is absent"},
      {{"sample", "--every", "5", "--format", "xml", "--", "true"}, "unknown format"},
      {{"sample", "--every", "5", "--only", "/bin/true", "--", "true"}, "without a path"},
      {{"sample", "--every", "5", "--start-at", "", "--", "true"}, "not a function or an address"},
  };
  for (const auto& [words, message] : wrong) {
    // Without a model of this machine, cycles are absent, too, and reported first.
    if (!kernel_describes_caches() && message == "cannot represent that branches:k is absent") continue;
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 2) << finished.err;
    EXPECT_NE(finished.err.find(message), std::string::npos) << finished.err;
  }
}

}  // namespace
}  // namespace tally::test
