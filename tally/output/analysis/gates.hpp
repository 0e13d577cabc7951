// Limits of a comparison: how much a count may grow before a change is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/comparison.hpp"

namespace tally::report {

/// "instructions=1%", "branch-misses@parse=5%", "page-faults=100", "real_time=5ms": the most that a count may grow.
struct Gate {
  std::string text;           ///< as it was given
  std::string event = {};     ///< with or without mode: "instructions", "instructions:u"
  std::string function = {};  ///< function, region or benchmark; empty: the whole program
  double limit = 0;           ///< 0.01 for 1 %, nanoseconds of a time, or events
  bool is_relative = false;
  bool is_time = false;     ///< the limit has a unit of time
  bool is_hard = true;      ///< a hard gate fails the comparison, a soft one warns
  std::string origin = {};  ///< "tally-gates.toml:3"; empty: the command line
};

/// Parses a gate. Errors: bad_usage with what is wrong.
Result<Gate> parse_gate(const std::string& text, bool is_hard);

/// Several errors as one: their messages, then their hints, one in each line. `errors` is not empty.
Error joined_errors(const std::vector<Error>& errors);

/// Checks that one of `events`, full names, is the gate's. `where` names the result in the message. Errors: bad_usage.
Result<void> check_event(const Gate& gate, const std::vector<std::string>& events, const std::string& where);

/// Checks that the limit suits the quantity: an absolute limit of a time has a unit of time, and no other has one.
/// Errors: bad_usage.
Result<void> check_unit(const Gate& gate, bool is_of_time);

/// What became of a gate.
struct GateResult {
  enum class State { passed, failed, undecided } state = State::passed;
  Gate gate;
  const ComparedCount* count = nullptr;  ///< the row that decided; null for a function that did not change
  std::string text;                      ///< one sentence
};

/// "passed", "failed", "undecided".
std::string_view name(GateResult::State state);

/// Evaluates gates. A gate asks about one quantity, so other rows do not matter. It passes if the whole 99 % interval
/// of the growth (of the decrease, if more is better) is within the limit, fails if the whole interval is above it, and
/// is undecided otherwise (growth_between). A gate without subject limits the whole program; in results of benchmarks
/// every one of them. Errors: bad_usage for events and subjects that are not in both results, all of them.
Result<std::vector<GateResult>> evaluate(const std::vector<Gate>& gates, const Comparison& comparison);

}  // namespace tally::report
