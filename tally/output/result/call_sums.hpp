// Counts of calls, including the calls below them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tally/output/result/code_values.hpp"

namespace tally::result {

/// Returns inclusive counts of each call (CodeCall or ProfileCall): its own counts and those of the calls below it, one
/// for each event. Parents come before their calls. `self`: one for each call and event.
template <class Call>
std::vector<std::int64_t> inclusive_counts(const std::vector<Call>& calls, std::vector<std::int64_t> self,
                                           std::size_t events) {
  for (std::size_t i = calls.size(); i-- > 0;) {
    if (calls[i].parent == CodeCall::no_parent) continue;
    for (std::size_t e = 0; e < events; ++e) self[calls[i].parent * events + e] += self[i * events + e];
  }
  return self;
}

}  // namespace tally::result
