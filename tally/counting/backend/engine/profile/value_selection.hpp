// Selects the model values that are recorded at each instruction, and computes events from them.
#pragma once

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend::engine {

/// Returns what one more of a value (its index in ModelValues) adds to a modelled event. Events are sums of values,
/// except for what one level passes to the next.
std::int64_t weight_of(event::Id id, std::size_t figure, const Modelling& modelling);

/// Returns the values that the order's modelled events need; none if it is no profile. Errors: cannot_measure if there
/// are more than an instruction has room for.
Result<channel::LocatedValues> located_values(const Order& order, const Modelling& modelling);

/// Returns the count of an event from the values of an instruction; 0 if no model counts it.
std::int64_t value_of(event::Id id, const channel::LocatedValues& placed, const channel::CodeValues& statistics,
                      const Modelling& modelling);

}  // namespace tally::backend::engine
