// The events that `tally stat` counts if the user names none.
#pragma once

#include <vector>

#include "tally/counting/backend/backend.hpp"

namespace tally::cli {

/// Returns those of the backend, for running processes those that can be counted in them. `kernel`: with the events of
/// the kernel, where an event has both. `in_intervals`: fewer, as each interval has a row of each.
std::vector<event::Event> default_events(const backend::Backend& backend, const backend::Target& target, bool kernel,
                                         bool in_intervals);

}  // namespace tally::cli
