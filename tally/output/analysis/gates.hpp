// Limits of a comparison: how much a count may grow before a change is refused.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/comparison_format.hpp"

namespace tally::output {

/// Parses a gate. Errors: bad_usage with what is wrong.
Result<Gate> parse_gate(const std::string& text, bool is_hard);

/// Several errors as one: their messages, then their hints, one in each line. `errors` is not empty.
Error joined_errors(const std::vector<Error>& errors);

/// Checks that one of `events`, full names, is the gate's. `where` names the result in the message. Errors: bad_usage.
Result<void> check_event(const Gate& gate, const std::vector<std::string>& events, const std::string& where);

/// Checks that a region, benchmark or function of a result is that of the gate, if it names one. `where` as above.
/// Errors: bad_usage, with similar names.
Result<void> check_function(const Gate& limit, const Comparable& result, const std::string& where);

/// Checks that the limit suits the quantity: an absolute limit of a time has a unit of time, and no other has one.
/// Errors: bad_usage.
Result<void> check_unit(const Gate& gate, bool is_of_time);

/// Evaluates gates. A gate asks about one quantity, so other rows do not matter. It passes if the whole 99 % interval
/// of the growth (of the decrease, if more is better) is within the limit, fails if the whole interval is above it, and
/// is undecided otherwise (growth_between). A gate without subject limits the whole program; in results of benchmarks
/// every one of them. Errors: bad_usage for events and subjects that are not in both results, all of them.
Result<std::vector<GateResult>> evaluate(const std::vector<Gate>& gates, const Comparison& comparison);

/// Compares two results (compare()) and evaluates the gates. Errors: bad_usage.
Result<JudgedComparison> compare_and_judge(const Comparable& before, const Comparable& after,
                                           const std::vector<Gate>& gates, bool forced = false,
                                           const std::vector<std::string>& chosen = {});

}  // namespace tally::output
