// Compares two results of the same program: what changed, and whether the change is more than chance.
#pragma once

#include <optional>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/comparison_result.hpp"

namespace tally::output {

/// Why two results cannot be compared: other programs or arguments. Nothing if they can. `allows_other_name`: of the
/// program, with the same arguments.
std::optional<Error> not_comparable(const Comparable& before, const Comparable& after, bool allows_other_name = false);

/// Compares two results. They must live as long as the comparison.
///
/// Exact counts of single runs need no statistics. Several runs are compared by rank (mann_whitney), values with an
/// interval by their standard errors, with a correction for the number of rows. Counts of a PMU or of the kernel, times
/// and modelled counts of one run are undecided, and so are all but exact counts of different processors. `forced`:
/// gates decide even if the results were counted with other settings. `chosen`: as Comparison::chosen. Errors:
/// bad_usage if no quantity is in both, or a chosen one is missing in one.
Result<Comparison> compare(const Comparable& before, const Comparable& after, bool forced = false,
                           std::vector<std::string> chosen = {});

/// Removes the rows of events that are not chosen. Those of the first chosen event come first.
void keep_chosen(std::vector<ComparedCount>& rows, const std::vector<std::string>& chosen);

/// The row of a quantity, without values and verdict.
ComparedCount empty_row(const Measure& measure);

}  // namespace tally::output
