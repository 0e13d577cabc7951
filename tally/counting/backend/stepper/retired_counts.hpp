// Events that the single-stepper counts.
#pragma once

#include <cstdint>

#include "tally/hardware/event/event.hpp"
#include "tally/hardware/workload/workload.hpp"

namespace tally::backend::stepper {

/// Computes the count of an event.
using RetiredCount = std::int64_t (*)(const workload::Counts& counts);

/// Null if the counts of retired instructions do not determine the event.
RetiredCount retired_count(event::Id id);

}  // namespace tally::backend::stepper
