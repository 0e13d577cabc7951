// Software events compared with `perf stat`, if that is installed and permitted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// Touches 3,000 untouched pages, and works for some tens of milliseconds.
const Words busy{"/bin/sh", "-c", "head -c 12288000 /dev/zero | tr '\\0' x | sort >/dev/null; :"};

/// The values of `-x ,` in the order of the events; perf writes a line for each.
std::vector<double> statistics(const std::string& text) {
  std::vector<double> all;
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty() && line.front() != '#') all.push_back(std::atof(line.c_str()));
  }
  return all;
}

/// Minimum and maximum of an event over some runs.
struct Range {
  double least = 1e300, greatest = 0;
  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

// Two ranges of five runs: they must overlap, or their distance must be smaller than either is wide.
void expect_agree(const Range& a, const Range& b) {
  const double slack = std::max(a.greatest - a.least, b.greatest - b.least);
  EXPECT_LE(a.least, b.greatest + slack);
  EXPECT_LE(b.least, a.greatest + slack);
}

TEST(ComparedWithPerf, page_faults_and_task_clock_agree) {
  const auto run = [](Words words) {
    words.insert(words.end(), busy.begin(), busy.end());
    return Running(words).finish();
  };
  const Words perf{"/usr/bin/env", "perf", "stat", "-x", ",", "-e", "page-faults:u,task-clock", "--"};
  if (const Finished tried = run(perf); tried.code() != 0 || statistics(tried.err).size() != 2)
    GTEST_SKIP() << "perf does not count here: " << tried.err;
  Range faults[2], clock[2];
  for (int round = 0; round < 5; ++round) {
    const auto theirs = statistics(run(perf).err);
    const Finished finished =
        run({TALLY_COMMAND, "stat", "-q", "--backend", "perf", "-x", ",", "-e", "page-faults:u,task-clock", "--"});
    ASSERT_EQ(finished.code(), 0) << finished.err;
    const auto ours = statistics(finished.err);
    ASSERT_EQ(theirs.size(), 2u);
    ASSERT_EQ(ours.size(), 2u) << finished.err;
    faults[0].add(theirs[0]);
    faults[1].add(ours[0]);
    clock[0].add(theirs[1]);
    clock[1].add(ours[1]);
  }
  expect_agree(faults[0], faults[1]);
  expect_agree(clock[0], clock[1]);
  EXPECT_GT(faults[1].least, 100);
}

}  // namespace
}  // namespace tally::test
