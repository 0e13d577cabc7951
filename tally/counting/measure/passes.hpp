// One run that is made of several executions, each of which counts some of the events.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::measure {

/// The passes of a run: filled in by the first.
struct Passes {
  std::vector<event::Pass> passes;  ///< none: all events in one execution
  bool make_room = false;           ///< what regions of the programs took the counters of is counted in further passes
};

/// Executes the order's command once for each pass and puts together what they counted; once, with all events, where
/// there are no passes. Standard input that is a file is read from where it stood by each. A program that fails or is
/// interrupted ends the run: what the passes after it would have counted is absent. Passes that are made for want of
/// room are known to later runs. Errors: those of Backend::run() in the first pass; in a later one a notice tells why.
Result<backend::Regions> run_passes(backend::Backend& backend, const backend::RegionOrder& order, Passes& passes,
                                    const linux::Input& input);

}  // namespace tally::measure
