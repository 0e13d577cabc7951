// What the models count at each instruction: which of their figures, and what those come to.
#pragma once

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// What one more of a figure (a number of ModelValues) adds to a modelled event: values are sums, but for what one
/// level passes on to the next.
std::int64_t weight_of(event::Id id, std::size_t figure, const Modelling& modelling);

/// The figures that the job's modelled events are made of; none where it is no profile. Errors: cannot_measure
/// where they are more than an instruction has room for.
Result<channel::LocatedValues> located_values(const Job& job, const Modelling& modelling);

/// What an event comes to by the figures of an instruction; 0 for one that no model counts.
std::int64_t value_of(event::Id id, const channel::LocatedValues& placed, const channel::CodeValues& statistics,
                      const Modelling& modelling);

}  // namespace tally::backend::engine
