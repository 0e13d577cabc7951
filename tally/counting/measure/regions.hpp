// Regions that the measured programs count themselves.
#pragma once

#include <cstddef>
#include <vector>

#include "tally/counting/backend/backend.hpp"

namespace tally::measure {

/// One execution of an order's command, and what its programs handed over of their regions when they ended. An order
/// without regions of its own is carried out as a CountOrder. Where regions of the programs have taken a counter from
/// an event in the meantime, that is absent, unless counters are multiplexed; `lent` takes the indices of those events
/// where it is not null. Errors: those of Backend::run().
Result<backend::Regions> run_with_regions(backend::Backend& backend, const backend::RegionOrder& order,
                                          std::vector<std::size_t>* lent = nullptr);
Result<backend::Regions> run_with_regions(backend::Backend& backend, const backend::WindowOrder& order);

/// `code`: takes what instructions counted.
Result<backend::Regions> run_with_regions(backend::Backend& backend, const backend::ProfileOrder& order,
                                          result::CodeCounts& code);

}  // namespace tally::measure
