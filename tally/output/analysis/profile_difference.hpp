// The difference of two profiles: a program before and after a change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/run_noise.hpp"
#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// One side of a change. `counts`: one for each event that both profiles have.
struct ChangeSide {
  bool is_present = false;
  std::uint32_t function = 0;          ///< in the side's profile; the first if several have one name
  std::uint32_t source = 0, line = 0;  ///< the same; line 0: unknown
  std::int64_t entered = 0;            ///< of functions
  std::vector<std::int64_t> counts;    ///< zeros if it is missing on this side
};

/// What the rows of a comparison are.
enum class ChangedRows : std::uint8_t { functions, lines, objects };
inline constexpr std::size_t changed_rows_count = 3;

/// A function, line or file of code, before and after.
struct Change {
  ChangeSide before, after;
  std::size_t of = 0;                         ///< index in ProfileDifference::functions: for a line, its function
  ChangedRows rows = ChangedRows::functions;  ///< kind of the row
  std::int64_t by(std::size_t event) const { return after.counts[event] - before.counts[event]; }
  bool any() const { return before.counts != after.counts; }
};

struct ProfileDifference {
  const result::Profile *before = nullptr, *after = nullptr;
  std::vector<std::string> events;  ///< events of both profiles, in the order of the first
  std::vector<std::size_t> event_index_before, event_index_after;  ///< index of each event in the profiles
  std::vector<std::string> only_before, only_after;                ///< events that cannot be compared
  std::vector<Change> functions, lines, objects;  ///< ordered by the change of the first event, largest first
  /// Why the functions of the two are hard to compare; empty if they are not.
  std::string caution() const;
  /// Whether an event was sampled on a side, except if every single event is a sample.
  bool is_estimated(std::size_t event) const;
  /// The change of an event and its interval. The intervals of all rows are correct together in 99 of 100 comparisons,
  /// as far as the variation between runs can be estimated from the rows (RunNoise).
  Estimate estimate(const Change& change, std::size_t event) const;
  /// The functions' names, distinct among all functions of both profiles (profile_names.hpp).
  std::vector<std::string> names(bool whole) const;
  SampledRow sampled_row(const Change& change, std::size_t event) const;
  std::vector<RunNoise> noise[changed_rows_count];  ///< of each event, if it is estimated
  std::vector<std::size_t> function_index_before,
      function_index_after;  ///< index in `functions` of each function of the profiles
};

/// The key that identifies a file of code in both profiles: the program may have another name, a library another
/// version.
std::string object_key(const result::Profile& profile, std::uint32_t object);

/// Functions match if their names and the names of their files match. Addresses may differ, the program may have
/// another name, and the version after a library's ".so" is ignored. Functions of one name (static functions, generated
/// code) are distinguished by their source files, if these differ. Lines match if they have the same distance from the
/// beginning of their function, or the same number in a file of the same name. Errors: bad_usage if the profiles have
/// no event in common.
Result<ProfileDifference> difference_of(const result::Profile& before, const result::Profile& after);

}  // namespace tally::output
