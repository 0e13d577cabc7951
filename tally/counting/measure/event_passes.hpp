// Divides one run into several executions, each of which counts some of the events.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::measure {

/// The passes of a run; the first run may add some.
struct Passes {
  std::vector<event::Pass> passes;  ///< empty: all events in one execution
  bool make_room = false;           ///< count events that lost their counters to regions in further passes
};

/// Executes the order's command once for each pass, and joins the counts; once with all events if there are no passes.
/// Each execution reads standard input from the same position if it is a file. A program that fails or is interrupted
/// ends the run: the events of later passes are absent. Later runs use the passes that were added. Errors: those of
/// Backend::run() in the first pass; a notice reports those of later passes.
Result<backend::Outcome> run_passes(backend::Backend& backend, const backend::Order& order, Passes& passes,
                                    const linux::Input& input);

}  // namespace tally::measure
