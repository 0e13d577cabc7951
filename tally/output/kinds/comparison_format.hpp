// Formats of `tally compare`: a table, JSON, and a comment for a pull request.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/kinds/comparison_result.hpp"
#include "tally/output/kinds/format.hpp"
#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// A comparison with the gates that it was judged by.
struct JudgedComparison {
  Comparison comparison;
  std::vector<GateResult> gates;
  result::Provenance provenance = {};

  /// Whether a gate of this strength has this state.
  bool any(GateResult::State state, bool is_hard) const;
  /// One line: "failed: instructions:u grew by 2.1 %, above 1 %", "passed", "instructions:u: worse by 2.1 %".
  std::string verdict() const;
};

/// How many rows or gates that are within their limits are shown.
inline constexpr std::size_t most_within_limits = 20;

struct ComparisonStyle {
  bool shows_unchanged = false;
  std::string_view all_option = {};  ///< the command's option that shows unchanged events; empty: it has none
  ComparedRows rows = ComparedRows::functions;  ///< of two profiles
  std::size_t most_rows = 10;                   ///< of these; 0: all
  std::size_t terminal = 0;                     ///< columns; 0: the output is not a terminal
  SourceReader source = {};                     ///< the page shows the source of functions if it is set
};

struct ComparisonFormat : Format {
  std::string (*write)(const JudgedComparison& judged, const ComparisonStyle& style);
};

/// All formats, the default first.
std::span<const ComparisonFormat> comparison_formats();

std::string comparison_table(const JudgedComparison& judged, const ComparisonStyle& style);
std::string comparison_json(const JudgedComparison& judged, const ComparisonStyle& style);
/// At most 60,000 characters, which GitHub and GitLab accept as a comment.
std::string comparison_markdown(const JudgedComparison& judged, const ComparisonStyle& style);
/// A page without need of a network: the verdicts, above the difference of two profiles if there are any.
std::string comparison_html(const JudgedComparison& judged, const ComparisonStyle& style);

/// A value of a row as text: "1,234", "12.31 ms", "2.077"; "-" if it is missing.
std::string count_text(const std::optional<Value>& value, const ComparedCount& of);
/// A change as text: "+1,234", "-12.31 ms"; "0".
std::string signed_text(Value value, const ComparedCount& of);
/// Whether the values of a row are times.
bool is_time(const ComparedCount& count);
/// "parse (+8,000)": the function whose count of an event grew most; empty if none did. The runtime does what programs
/// request, so a function of the program is preferred unless it explains little.
std::string largest_growth(const Comparison& comparison, const std::string& event);
/// The interval of a change: "+1,234 … +1,300"; empty if there is none.
std::string interval_text(const ComparedCount& count);
/// The change of a row as text; empty if a value is missing.
std::string change_text(const ComparedCount& count);
/// "+2.13 %"; empty if there is none, or nothing to relate it to.
std::string relative_text(const ComparedCount& count);
/// The rows to show: all, or those that are better, worse or undecided, or have a value in one result only. Metrics
/// only if they are better or worse. Rows that passed their gates are below the others, at most `most_within_limits`.
std::vector<const ComparedCount*> shown_counts(const JudgedComparison& judged, const ComparisonStyle& style);
/// A line about one gate, or about those that are left out.
struct GateLine {
  std::string_view state;  ///< "passed", "FAILED", "warning" (a soft gate failed), "undecided"
  std::string text;
};
/// Gates that passed are below the others: at most `most_within_limits`, then how many more there are.
std::vector<GateLine> gate_lines(const std::vector<GateResult>& gates);
/// "function", "line", "object", "process", "thread".
std::string_view name(ComparedRows rows);
/// The rows of profiles to show of the first event that has some, at most `style.most_rows`.
std::vector<const ComparedCount*> shown_rows(const Comparison& comparison, const ComparisonStyle& style);
/// The subjects of rows as tables show them: long names are cut so that they still differ.
std::vector<std::string> subjects_of(const std::vector<const ComparedCount*>& rows);
/// The share of the whole program's count before that a row's change is: "+1.2 %"; empty if it is not known.
std::string share_of_whole(const Comparison& comparison, const ComparedCount& row);

}  // namespace tally::output
