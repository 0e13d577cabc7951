// What the tests with hardware counters stand on.
#pragma once

#include <string>

#include "tally/workload/workload.hpp"

namespace tally::hardware_test {

/// Why no PMU counts here: empty where one does.
std::string why_no_pmu();

/// A program with a known answer.
struct Known {
  std::string path;
  workload::Counts counts;
};

/// The program NAME_N of the build tree, "countdown" of 1000. On x86-64 too, where fact3 takes the place of countdown.
Known known(const std::string& name, std::uint64_t n);

}  // namespace tally::hardware_test

/// Skips the test, with the reason, where no PMU counts.
#define NEEDS_PMU() \
  if (const std::string why = tally::hardware_test::why_no_pmu(); !why.empty()) GTEST_SKIP() << why
