// Regions that the measured programs count themselves.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/backend/backend.hpp"

namespace tally::measure {

/// One execution of a command, and what its programs handed over of their regions when they ended. Where regions have
/// taken a counter from an event in the meantime, that is absent, unless counters were to be lent; `lent` takes the
/// places of those events where it is not null. Errors: those of Backend::run().
Result<backend::Outcome> run_with_regions(backend::Backend& backend, const backend::Request& request,
                                          std::vector<std::size_t>* lent = nullptr);

}  // namespace tally::measure
