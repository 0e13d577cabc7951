// Makes all runs of a discovery: first which events are alive, then the slopes of those.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/discover/target.hpp"
#include "programs/discovery/analysis/analyse.hpp"
#include "tally/core/base/result.hpp"

namespace tally::discover {

/// Callbacks of a sweep.
struct Watch {
  /// Called for each run, to store it. Errors end the sweep.
  std::function<Result<void>(const Run&)> made = {};
  /// Called with a stage, its current item, and the estimated share of its time that is done.
  std::function<void(std::string_view stage, const std::string& what, double share)> progress = {};
  std::function<bool()> interrupted = {};
};

/// Makes the runs that are missing in `record`, which may come from an earlier, interrupted sweep. Ends early without
/// an error if the user interrupts. Returns whether all runs were made.
Result<bool> sweep(Target& target, Record& record, const Watch& watch);

/// Returns groups of events that are counted together, each on a counter that it can use, those with the fewest choices
/// first (bipartite matching by augmenting paths). `allowed[i]`: the counters of event i; empty: any.
std::vector<std::vector<Slot>> batches(const std::vector<Slot>& events, const std::vector<std::vector<int>>& allowed,
                                       int counters, std::size_t at_once);

}  // namespace tally::discover
