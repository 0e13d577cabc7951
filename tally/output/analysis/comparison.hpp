// Compares two results of the same program: what changed, and whether the change is more than chance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/profile_difference.hpp"

namespace tally::report {

/// What a change means; a lower count is better, if the quantity is not one of which more is better.
enum class Verdict : std::uint8_t { same, better, worse, undecided };
std::string_view name(Verdict verdict);

/// One quantity of both results.
struct ComparedCount {
  std::string event;         ///< its full name
  std::string subject = {};  ///< function, region or benchmark; empty: the whole program
  Unit unit = Unit::events;
  bool is_fraction = false, is_metric = false;
  std::string fraction_unit = {};
  Better better = Better::less;
  std::optional<Value> before = {}, after = {};  ///< medians of several runs
  std::optional<ValueInterval> interval = {};    ///< 99 % interval of the change, if it is not exact
  std::string trust = {};                        ///< of both, or "exact / counted"
  std::optional<double> probability = {};        ///< that the runs differ by chance, adjusted for the number of rows
  bool is_different = false;                     ///< the change is more than chance
  Verdict verdict = Verdict::undecided;
  std::string reason = {};       ///< why it is undecided
  bool is_incomparable = false;  ///< no number of runs decides: `reason`
  /// Null: it is incomparable, or a row of profiles.
  const Measure *measure_before = nullptr, *measure_after = nullptr;
  std::string label = {};  ///< of a function: "code generation", if its source and calls are the same
  std::size_t index = 0;   ///< of a function: in Comparison::all_functions

  /// after − before; 0 if one is missing.
  Value change() const { return before && after ? *after - *before : 0; }
  /// By how much it became worse: the decrease of a quantity of which more is better, else the increase.
  Value growth() const { return better == Better::more ? -change() : change(); }
  /// The change relative to before; nothing if that is missing or 0.
  std::optional<double> relative_change() const;
};

/// A function of one or both profiles.
struct ComparedFunction {
  std::string name;     ///< in full, with parameters
  std::string subject;  ///< as rows name it
  bool was_there = false, is_there = false;
};

/// Parts of a program whose profiles are compared.
enum class ComparedRows : std::uint8_t { functions, lines, objects, processes, threads };

/// Two results, compared.
struct Comparison {
  const Comparable *before = nullptr, *after = nullptr;
  std::vector<ComparedCount> counts = {};  ///< events, then metrics
  /// Functions whose counts changed, the largest change of the first event first; empty without profiles.
  std::vector<ComparedCount> functions = {};
  std::vector<ComparedFunction> all_functions = {};  ///< also those that did not change
  /// The same of source lines, files of code, processes and threads; of the last two only if a side has several.
  std::vector<ComparedCount> lines = {}, objects = {}, processes = {}, threads = {};
  std::vector<std::string> warnings = {};  ///< why the comparison may mislead
  /// Names of the settings that differ and decide every count, or modelled counts. Gates on these counts are undecided.
  std::vector<std::string> other_settings = {}, other_models = {};

  const std::vector<ComparedCount>& rows(ComparedRows which) const;
};

/// Why two results cannot be compared: other programs or arguments. Nothing if they can.
std::optional<Error> not_comparable(const Comparable& before, const Comparable& after);

/// Compares two results. They must live as long as the comparison.
///
/// Exact counts of single runs need no statistics. Several runs are compared by rank (mann_whitney), values with an
/// interval by their standard errors, with a correction for the number of rows. Counts of a PMU or of the kernel, times
/// and modelled counts of one run are undecided, and so are all but exact counts of different processors. `forced`:
/// gates decide even if the results were counted with other settings. Errors: bad_usage if no quantity is in both.
Result<Comparison> compare(const Comparable& before, const Comparable& after, bool forced = false);

}  // namespace tally::report
