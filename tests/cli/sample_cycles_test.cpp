// Cycles of windows: the instructions they executed, with the costs of the core model at the end, and their misses.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Rows = std::vector<std::map<std::string, std::string>>;

Rows read_rows(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> names;
  Rows rows;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    std::istringstream parts(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == 0) rows.emplace_back();
      rows.back()[names.at(i)] = cells[i];
    }
  }
  return rows;
}

long sum(const Rows& rows, const std::string& name) {
  long all = 0;
  for (const auto& row : rows) all += std::stol(row.at(name));
  return all;
}

class WindowCycles : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  void TearDown() override { std::filesystem::remove(path_); }

  /// Cycles of a machine model that is the same on every host.
  Rows sample(const Words& more) const {
    const Finished finished = tally(with({"sample", "-q", "--repeatable", "--model", "haswell", "-o", path_}, more));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return read_rows(path_);
  }
  static long cycles_of(const Words& program, const Words& more = {}) {
    const Words stat{"stat", "-q", "--repeatable", "--model", "haswell", "--format", "json", "-e", "cycles"};
    const Finished finished = tally(with(with(stat, more), with({"--"}, program)));
    return nlohmann::json::parse(finished.err)["events"][0]["value"].get<long>();
  }

  std::string path_ = testing::TempDir() + "tally-cycles-" + std::to_string(getpid()) + ".csv";
};

TEST_F(WindowCycles, add_up_to_those_of_the_command) {
  const Words programs[] = {{PROFILED}, {PROFILED, "threads"}, {PROFILED, "fork"}, {PROFILED, "make"}};
  for (const Words& program : programs) {
    for (const char* every : {"1000", "37"}) {
      SCOPED_TRACE(program.back() + " " + every);
      const Rows rows = sample(with({"-e", "cycles,instructions", "--every", every, "--"}, program));
      const long all = cycles_of(program);
      // Threads evict each other's lines, and the last level is accessed in another order near their windows' ends.
      if (program.back() == "threads")
        EXPECT_NEAR(static_cast<double>(sum(rows, "cycles:u")), static_cast<double>(all),
                    0.02 * static_cast<double>(all));
      else
        EXPECT_EQ(sum(rows, "cycles:u"), all);
      for (const auto& row : rows) ASSERT_GE(std::stol(row.at("cycles:u")), 0);
      EXPECT_EQ(rows.front().at("trust"), "modelled");
    }
  }
}

TEST_F(WindowCycles, are_the_same_however_code_was_translated) {
  const Words program{"-e", "cycles,instructions", "--every", "1000", "--", PROFILED};
  const Rows rows = sample(program);
  for (const Words& way : {Words{"--block-size", "1"}, Words{"--hot-from", "10"}}) {
    const Rows others = sample(with(way, program));
    ASSERT_EQ(others.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(static_cast<double>(std::stol(others[i].at("cycles:u"))),
                  static_cast<double>(std::stol(rows[i].at("cycles:u"))), 1)
          << way.front() << " " << i;
  }
}

// A loop of dependent multiplications takes three cycles per round; with five instructions per round, 0.6 per
// instruction.
TEST_F(WindowCycles, distinguish_a_slow_loop_from_a_fast_one) {
  const Rows rows = sample({"-e", "cycles,instructions", "--every", "1000", "--", TWO_LOOPS});
  std::map<long, int> seen;
  for (const auto& row : rows)
    if (row.at("trigger") != "end") ++seen[std::lround(std::stod(row.at("cycles:u")) / 100)];
  EXPECT_GE(seen[6], 90) << "factorial: 600 cycles";
  EXPECT_GE(seen[3], 90) << "three additions and a jump";
}

// The costs are those of the whole program, the windows those of a part.
TEST_F(WindowCycles, of_a_part_are_a_part) {
  const Rows all = sample({"-e", "cycles,instructions", "--every", "100", "--", PROFILED});
  const Rows part = sample({"-e", "cycles,instructions", "--every", "100", "--start-at", "main", "--", PROFILED});
  ASSERT_FALSE(part.empty());
  EXPECT_LT(sum(part, "cycles:u"), sum(all, "cycles:u"));
  EXPECT_GT(sum(part, "cycles:u"), sum(part, "instructions:u") / 4) << "a Haswell retires four instructions per cycle";
}

TEST_F(WindowCycles, of_a_killed_program_are_partial) {
  const Finished finished = tally({"sample", "-q", "--model", "haswell", "-o", path_, "-e", "cycles,instructions",
                                   "--every", "200", "--", PROFILED, "kill"});
  EXPECT_EQ(finished.code(), 128 + 9);
  const Rows rows = read_rows(path_);
  ASSERT_GT(rows.size(), 10u);
  for (const auto& row : rows) EXPECT_EQ(row.at("trust"), "partial");
}

}  // namespace
}  // namespace tally::test
