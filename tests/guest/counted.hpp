// The counts of `tally stat`, from its JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::hardware_test {

/// One row.
struct Row {
  std::optional<std::int64_t> value;
  std::string trust;
  std::optional<double> error_percent = {};
  std::string reason;
  std::string repeats;                    ///< the repeatability class
  std::optional<std::int64_t> corrected;  ///< without what page faults and interrupts added
  std::int64_t page_faults = 0;
};

/// A finished `tally stat`.
struct Counted {
  int code = 0;
  std::string messages;  ///< standard error
  std::string backend;
  std::map<std::string, Row> rows;                          ///< by their full names: "instructions:u"
  std::map<std::string, std::map<std::string, Row>> parts;  ///< the same of each core or socket, on request
  std::vector<std::map<std::string, Row>> processes;        ///< the same of each, with --per-process
  std::vector<std::map<std::string, Row>> threads;          ///< the same of each thread, with --per-thread

  /// A count that must exist; −1, and a failed test, if it does not.
  std::int64_t value(const std::string& name) const;
};

/// Runs `tally stat` with these options, then `--` and the command. Fails the test if it writes no JSON.
Counted counted(const test::Words& options, const test::Words& command);

/// The counts of Debian's `perf stat`, by the events' names; empty if there is no perf.
std::map<std::string, std::int64_t> counted_by_perf(const std::string& events, const test::Words& options,
                                                    const test::Words& command);

/// Turns of a short loop, and of one that is counted for long enough.
constexpr std::int64_t few = 1000;
constexpr std::int64_t many = 1000000;

}  // namespace tally::hardware_test
