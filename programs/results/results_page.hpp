// The page of `tally report`.
#pragma once

#include <string>
#include <vector>

#include "programs/results/stored_result.hpp"

namespace tally::results {

/// A self-contained page of results that are no profiles. Curves of several results of `tally memory` share a chart at
/// the beginning.
std::string results_html(std::vector<StoredResult> results);

}  // namespace tally::results
