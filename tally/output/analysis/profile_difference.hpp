// What changed between two profiles: a program before and after it was altered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/count/run_noise.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::report {

/// One side of a change. `counts`: one for each event that both profiles have.
struct ChangeSide {
  bool is_there = false;
  std::uint32_t function = 0;          ///< in the side's profile; of several that go by one name the first
  std::uint32_t source = 0, line = 0;  ///< the same; line 0: not known
  std::int64_t entered = 0;            ///< of functions
  std::vector<std::int64_t> counts;    ///< zeros where it is not there
};

/// What is compared at once.
enum class ChangedRows : std::uint8_t { functions, lines, objects };
inline constexpr std::size_t changed_rows_count = 3;

/// A function, line or file of code, before and after.
struct Change {
  ChangeSide before, after;
  std::size_t of = 0;                         ///< of a line: its function's place in ProfileDifference::functions
  ChangedRows rows = ChangedRows::functions;  ///< that it is one of
  std::int64_t by(std::size_t event) const { return after.counts[event] - before.counts[event]; }
  bool any() const { return before.counts != after.counts; }
};

struct ProfileDifference {
  const result::Profile *before = nullptr, *after = nullptr;
  std::vector<std::string> events;                   ///< that both have, as the first one orders them
  std::vector<std::size_t> in_before, in_after;      ///< of each event: its place in the profiles
  std::vector<std::string> only_before, only_after;  ///< events that cannot be compared
  std::vector<Change> functions, lines, objects;     ///< what changed most by the first event comes first
  /// What makes functions of the two hard to compare, in words; empty where nothing does.
  std::string caution() const;
  /// Whether an event was sampled on a side, and not every single one of it.
  bool is_estimated(std::size_t event) const;
  /// The change of an event, and between what it lies: intervals of all rows are right at once in 99 of 100
  /// comparisons, as far as what differs from run to run can be told from the rows (RunNoise).
  Estimate estimate(const Change& change, std::size_t event) const;
  /// What the functions are called, told apart from all of both (profile_names.hpp).
  std::vector<std::string> names(bool whole) const;
  SampledRow sampled_row(const Change& change, std::size_t event) const;
  std::vector<RunNoise> noise[changed_rows_count];  ///< of each event; where it is estimated
  std::vector<std::size_t> of_before, of_after;     ///< of each function of the profiles: its place in `functions`
};

/// Functions are the same where the file that holds them and their names are: addresses may be others, the program may
/// be called otherwise, and the numbers behind a library's ".so" do not count. Several of one name (static functions,
/// made code) are told apart by their files of source, where these differ. A line is the same where it is as far from
/// the beginning of its function, or has the same number in a file of the same name. Errors: bad_usage where no event
/// is in both.
Result<ProfileDifference> difference_of(const result::Profile& before, const result::Profile& after);

/// A format of differences.
struct DifferenceFormat : Format {
  std::string (*write)(const ProfileDifference& difference, const ProfileStyle& style);
};

/// All forms, the default first.
std::span<const DifferenceFormat> difference_formats();

std::string difference_table(const ProfileDifference& difference, const ProfileStyle& style);
std::string difference_json(const ProfileDifference& difference, const ProfileStyle& style);
std::string difference_html(const ProfileDifference& difference, const ProfileStyle& style);

}  // namespace tally::report
