// Sorts the rows of a profile.
#pragma once

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// Sorts rows by owner, function and address, with their counts and samples. Equal rows keep their order.
void sort_rows(result::Profile& profile);

}  // namespace tally::output
