// Compares two results of the same program: what changed, and whether the change is more than chance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/result/any.hpp"

namespace tally::report {

/// What a change means; a lower count is better.
enum class Verdict : std::uint8_t { same, better, worse, undecided };
std::string_view name(Verdict verdict);

/// Repeats on each side from which a test of ranks can find a difference at 5 %.
inline constexpr std::size_t fewest_repeats = 4;

/// One count of both results.
struct ComparedCount {
  std::string event;          ///< its full name
  std::string function = {};  ///< empty: of the whole program
  Unit unit = Unit::events;
  std::optional<std::int64_t> before, after;  ///< medians of several runs
  std::optional<Estimate> difference = {};    ///< of samples: with its interval
  std::string trust;                          ///< of both, or "exact / counted"
  std::optional<double> probability = {};     ///< that the runs differ by chance, adjusted for the number of rows
  Verdict verdict = Verdict::undecided;
  std::string reason = {};  ///< why it is undecided

  /// after − before; 0 if one is missing.
  std::int64_t change() const { return before && after ? *after - *before : 0; }
  /// The change relative to before; nothing if that is missing or 0.
  std::optional<double> relative_change() const;
};

/// Two results, compared.
struct Comparison {
  const result::Stat *before = nullptr, *after = nullptr;
  std::vector<ComparedCount> counts = {};
  /// Functions whose counts changed, the largest change of the first event first; empty without profiles.
  std::vector<ComparedCount> functions = {};
  std::vector<std::string> warnings = {};  ///< why the comparison may mislead
};

/// The event of this name; null if the result does not have it.
const result::Event* find_event(const result::Stat& stat, const EventName& name);

/// The counts of a stat result or profile; null for other results.
const result::Stat* counts_of(const result::AnyResult& result);

/// Why two results cannot be compared: other programs or arguments. Nothing if they can.
std::optional<Error> not_comparable(const result::Stat& before, const result::Stat& after);

/// Compares two results of `tally stat`, two profiles, or one of each. The results must live as long as the comparison.
///
/// Exact counts of single runs need no statistics. Several runs are compared by rank (mann_whitney), with a correction
/// for the number of rows. Counts of a PMU or of the kernel, times and modelled counts of one run are undecided, and so
/// are all but exact counts of different processors. Errors: bad_usage if no event is in both.
Result<Comparison> compare(const result::AnyResult& before, const result::AnyResult& after);

}  // namespace tally::report
