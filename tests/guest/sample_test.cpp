// Windows by a PMU.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using test::Words;

struct Row {
  std::int64_t process, thread, number, length, lost, instructions;
  bool cut;
};

// `tally sample` of instructions, with these options.
std::vector<Row> sampled(const Words& options, const Words& command) {
  const test::TemporaryFile file("rows.jsonl");
  Words words{"sample", "-q", "-e", "instructions", "--format", "jsonl", "-o", file.path()};
  words = test::with(test::with(std::move(words), options), {"--"});
  const test::Finished finished = test::tally(test::with(std::move(words), command));
  EXPECT_EQ(finished.code(), 0) << finished.err;
  std::vector<Row> rows;
  bool head = true;
  for (const std::string& line : split(file.content().value_or(""), '\n')) {
    if (line.empty()) continue;
    const auto row = nlohmann::json::parse(line, nullptr, false);
    if (!head && !row.is_discarded() && !row.contains("schema")) {
      rows.push_back(
          {row["process"], row["thread"], row["number"], row["length"], row.value("lost", 0),
           row["counts"]["instructions:u"].is_number() ? row["counts"]["instructions:u"].get<std::int64_t>() : -1,
           row["trigger"] == "end"});
    }
    head = false;
  }
  EXPECT_FALSE(rows.empty()) << finished.err;
  return rows;
}

std::map<std::int64_t, std::int64_t> by_thread(const std::vector<Row>& rows) {
  std::map<std::int64_t, std::int64_t> sums;
  for (const Row& row : rows) sums[row.thread] += row.instructions;
  return sums;
}

std::int64_t expected(const KnownProgram& program) { return static_cast<std::int64_t>(program.counts.instructions); }

TEST(Sample, windows_by_cycles_are_exactly_the_period_and_their_sums_exact) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  const KnownProgram loop = known("countdown", 1000000);
  constexpr std::int64_t period = 50000;
  const std::vector<Row> rows = sampled({"--every", std::to_string(period), "--by", "cycles"}, {loop.path});
  std::int64_t total = 0, sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    total += rows[i].length;
    sum += rows[i].instructions;
    EXPECT_EQ(rows[i].lost, 0);
    EXPECT_EQ(rows[i].cut, i + 1 == rows.size());
    if (!rows[i].cut && is_guest()) EXPECT_EQ(rows[i].length, period);
  }
  if (is_guest()) EXPECT_EQ(static_cast<std::int64_t>(rows.size()), (total + period - 1) / period);
  EXPECT_GE(sum, expected(loop));
  EXPECT_LE(sum, expected(loop) + (is_guest() ? 0 : 2000));
}

// The kernel does not count other processes with the counters of one, nor processes that run at the same time.
TEST(Sample, processes_that_alternate_on_one_processor_are_kept_apart) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  const KnownProgram one = known("countdown", 210000000), other = known("countdown", 1000000);
  const test::Running other_process({one.path});
  const std::vector<Row> rows =
      sampled({"--every", "1M", "--by", "instructions"},
              {"/bin/sh", "-c", one.path + " & for i in 1 2 3 4 5; do " + other.path + "; done & wait"});
  int long_ones = 0, short_ones = 0;
  for (const auto& [thread, sum] : by_thread(rows)) {
    EXPECT_NE(thread, other_process.pid());
    EXPECT_NE(thread, 0);
    // Each was a shell before its execve: some 100,000 instructions of its own, at most.
    if (sum >= expected(one) && sum < expected(one) + 200000) ++long_ones;
    if (sum >= expected(other) && sum < expected(other) + 200000) ++short_ones;
  }
  EXPECT_EQ(long_ones, 1);
  EXPECT_EQ(short_ones, 5);
}

TEST(Sample, each_thread_has_windows_of_its_own) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  constexpr std::int64_t turns = 1000000;
  const std::vector<Row> rows = sampled({"--every", "100000"}, {WORKERS, "1", "8", std::to_string(turns)});
  int busy = 0;
  for (const auto& [thread, sum] : by_thread(rows)) {
    if (sum < 2 * turns) continue;
    ++busy;
    EXPECT_LT(sum, 2 * turns + 10000);
  }
  EXPECT_EQ(busy, 8);
  std::map<std::int64_t, std::int64_t> last;
  for (const Row& row : rows) EXPECT_EQ(row.number, ++last[row.thread]);
}

TEST(Sample, a_child_that_executes_goes_on_and_a_short_thread_has_its_row) {
  TALLY_NEEDS_PMU();
  if (is_guest() && sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "counts include those of the other processors";
  const KnownProgram loop = known("countdown", 1000000);
  const std::vector<Row> rows =
      sampled({"--every", "100000"}, {"/bin/sh", "-c", "(exec " + loop.path + "); " + WORKERS + " 1 2 5; true"});
  std::set<std::int64_t> processes;
  int long_ones = 0;
  for (const Row& row : rows) processes.insert(row.process);
  for (const auto& [thread, sum] : by_thread(rows))
    if (sum >= expected(loop) && sum < expected(loop) + 200000) ++long_ones;
  EXPECT_EQ(long_ones, 1);
  EXPECT_EQ(processes.size(), 4u);  // the shell, the loop, the workers' first, and its child
  EXPECT_GE(by_thread(rows).size(), 6u);
}

}  // namespace
}  // namespace tally::hardware_test
