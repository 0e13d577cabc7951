// Why only the engine can count regions of an unchanged program.
#pragma once

#include <string_view>

#include "tally/core/base/error.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend {

/// Whether this tally was built with the engine.
bool has_engine();

/// The refusal of another backend. `why`: why that one cannot; empty: because a PMU does not see regions.
Error engine_only(const RegionOrder& order, std::string_view why = {});

/// As above, of windows with bounds.
Error engine_only(const WindowBounds& bounds);

}  // namespace tally::backend
