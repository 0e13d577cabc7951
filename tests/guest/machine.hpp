// Helpers for the tests with hardware counters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "programs/workload/workload.hpp"

namespace tally::hardware_test {

/// Why no PMU counts here: empty if one does.
std::string why_no_pmu();

/// A program with a known answer.
struct KnownProgram {
  std::string path;
  workload::Counts counts;
};

/// The program NAME_N of the build tree, "countdown" of 1000. On x86-64, too, where others replace it.
KnownProgram known(const std::string& name, std::uint64_t n);

/// Some programs of the build tree, with their N.
std::vector<std::pair<std::string, std::uint64_t>> known_programs();

/// Writes a number to a file of /proc/sys, and restores the old one at the end of the scope.
class Setting {
 public:
  Setting(std::string file, std::int64_t value);
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting();

 private:
  std::string file_;
  std::int64_t before_ = 0;
};

/// kernel.perf_event_paranoid.
inline Setting paranoid(std::int64_t level) { return {"/proc/sys/kernel/perf_event_paranoid", level}; }

/// These words, run by an ordinary user.
std::vector<std::string> as_user(std::vector<std::string> words);

/// Whether this is the guest of ./dev guest, whose processor counts a cycle for each instruction and no branches.
bool is_guest();

}  // namespace tally::hardware_test

/// Skips the test, with the reason, if no PMU counts.
#define TALLY_NEEDS_PMU() \
  if (const std::string why = tally::hardware_test::why_no_pmu(); !why.empty()) GTEST_SKIP() << why

/// Settings of the whole machine are changed only in the guest, which nobody else uses.
#define TALLY_NEEDS_GUEST() \
  TALLY_NEEDS_PMU();        \
  if (!tally::hardware_test::is_guest() || geteuid() != 0) GTEST_SKIP() << "the machine is changed in the guest only"
