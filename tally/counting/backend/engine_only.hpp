// Errors for requests that only the engine can carry out.
#pragma once

#include <string_view>

#include "tally/core/base/error.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend {

/// Whether this tally was built with the engine.
bool has_engine();

/// Returns another backend's refusal of regions. `why`: its reason; empty: because a PMU does not see regions.
Error engine_only(const RegionOrder& order, std::string_view why = {});

/// Returns the error with which another backend refuses windows with bounds.
Error engine_only(const WindowOrder& order);

}  // namespace tally::backend
