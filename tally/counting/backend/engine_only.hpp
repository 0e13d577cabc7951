// What only the engine can do, in one table.
#pragma once

#include <optional>
#include <string_view>

#include "tally/core/base/error.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend {

/// Whether this tally was built with the engine.
bool has_engine();

/// Whether an option of the order needs the engine. `has_model`: --model was given.
bool needs_engine(const Order& order, bool has_model);

/// Returns the error with which another backend refuses such an option; nothing if the order has none.
std::optional<Error> refuses_option(std::string_view backend, const Order& order, bool has_model);

/// Returns the error with which another backend refuses regions, or windows with bounds; nothing if the order has none.
/// `why`: its reason; empty: because a PMU does not see them.
std::optional<Error> refuses_regions(const Order& order, std::string_view why = {});

}  // namespace tally::backend
