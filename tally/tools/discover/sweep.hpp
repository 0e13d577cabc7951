// All runs of a discovery: first what is alive, then slopes of that.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/discover/analysis/analyse.hpp"
#include "tally/tools/discover/target.hpp"

namespace tally::discover {

/// How a sweep is watched.
struct Watch {
  /// A run was made: it is to be kept. Errors end the sweep.
  std::function<Result<void>(const Run&)> made = {};
  /// A stage, what it is at, and what share of the stage is done: by time, as nearly as can be told.
  std::function<void(std::string_view stage, const std::string& what, double share)> progress = {};
  std::function<bool()> interrupted = {};
};

/// Makes the runs that `record` lacks: those that it holds already (of an earlier, interrupted sweep) are not made
/// again. Ends early, without an error, where the user interrupts; says whether everything was made.
Result<bool> sweep(Target& target, Record& record, const Watch& watch);

/// Which events are counted together: each on a counter that it can use, those with the fewest choices first
/// (bipartite matching by augmenting paths). `allowed[i]`: the counters of event i, empty: any.
std::vector<std::vector<Slot>> batches(const std::vector<Slot>& events, const std::vector<std::vector<int>>& allowed,
                                       int counters, std::size_t at_once);

}  // namespace tally::discover
