// By how much a quantity became worse, and how sure that is: what a gate limits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tally::output {

/// The 99 % interval of a growth, relative to before (0.01: 1 %) or in the unit of the quantity. Infinite if something
/// grew from 0.
struct Growth {
  double low = 0, high = 0;
  std::string basis = {};  ///< of a point: "by one run each"; empty: several runs
  bool is_point() const { return low == high; }
};

/// One side of a comparison.
struct RepeatedValue {
  std::vector<double> runs;    ///< at least one
  bool is_repeatable = false;  ///< each run counts the same: --repeatable, one thread, an exact or modelled count
  /// What the program read that may make another run count something else: "clock, getrandom".
  std::string sources = {};
  /// What decides a single run that is not repeatable.
  std::string how_to_decide = "count both with --repeatable, or 5 times (-r 5)";
};

/// A growth, or why its interval is unknown and what to do.
using GrowthOrReason = std::variant<Growth, std::string>;

/// From how many runs on each side a test of ranks finds a difference at 1 %.
inline constexpr std::size_t fewest_runs = 5;
/// How many agreeing runs on each side decide without --repeatable. A count of two values, such as one that depends on
/// the program's random addresses, shows one of them in n runs of each side and the other one in none with a
/// probability of at most 2/4ⁿ: 0.8 % for 4.
inline constexpr std::size_t fewest_agreeing_runs = 4;

/// By how much `after` is worse than `before`. `more_is_better`: a decrease is a growth. `is_relative`: relative to
/// before.
///
/// It is a point if all runs of each side agree and there are enough of them, or if each side is one repeatable run: of
/// a program that read something else in each run, only if both counted the same. Otherwise it is the interval that the
/// test of Mann and Whitney does not reject at 1 % (Hodges and Lehmann 1963): it needs no assumption about the
/// distribution but that both sides differ by a factor or a distance. Cost: O(n m).
GrowthOrReason growth_between(const RepeatedValue& before, const RepeatedValue& after, bool more_is_better,
                              bool is_relative);

enum class LimitVerdict { within, above, unknown };

/// Whether the whole interval is within a limit, or above it.
LimitVerdict judge_growth(const Growth& growth, double limit);

/// How many runs on each side probably decide (in 8 of 10 attempts) whether the growth is above the limit, by the share
/// of pairs of runs that are (Noether 1987). Nothing: more than 1,000.
std::optional<std::size_t> runs_to_decide(const RepeatedValue& before, const RepeatedValue& after, bool more_is_better,
                                          bool is_relative, double limit);

}  // namespace tally::output
