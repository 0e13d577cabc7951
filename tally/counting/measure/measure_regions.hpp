// Runs commands, and receives the regions that the measured programs count themselves.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/counting/backend/backend.hpp"

namespace tally::measure {

/// Executes an order's command once, and receives the regions that its programs pass at their end. An event of a count
/// that lost its counter to a program's regions is absent, unless counters are multiplexed; `without_counter` gets the
/// indexes of those events if it is not null. Errors: those of Backend::run().
Result<backend::Outcome> run_with_regions(backend::Backend& backend, const backend::Order& order,
                                          std::vector<std::size_t>* without_counter = nullptr);

}  // namespace tally::measure
