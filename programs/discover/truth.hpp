// What payloads really do, counted by the engine if it is available.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "programs/discover/planted.hpp"
#include "programs/discovery/payloads.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/received_signals.hpp"

namespace tally::discover {

/// Returns the events that count coordinates; for the other coordinates the declared composition is used.
std::vector<event::Event> counted_coordinates();

/// Runs each payload with two numbers of copies. Uses the declared composition for what this backend does not count.
/// Errors: those of Backend::run(); cannot_measure if a payload does not exit with 0, or the user interrupts.
Result<std::vector<Truth>> truths(backend::Backend& backend, linux::Signals& signals,
                                  const std::vector<Payload>& payloads,
                                  const std::function<void(const std::string&, double)>& progress);

/// Returns a sentence for each difference between counts and declarations, except for coordinates that a model
/// computes.
std::vector<std::string> disagreements(const std::vector<Payload>& payloads, const std::vector<Truth>& truths);

/// Returns the declared compositions, with a cycle per instruction: for a machine without an engine.
std::vector<Truth> declared_truths(const std::vector<Payload>& payloads);

}  // namespace tally::discover
