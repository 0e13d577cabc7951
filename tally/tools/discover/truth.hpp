// What payloads really do: counted by the engine, where there is one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/tools/discover/payloads.hpp"
#include "tally/tools/discover/planted.hpp"

namespace tally::discover {

/// The events by which a way to count knows coordinates; of the others the declared composition has to be taken.
std::vector<event::Event> counted_coordinates();

/// Executes each payload with two numbers of copies. What this backend does not count is taken as it is declared.
/// Errors: those of Backend::run(); cannot_measure where a payload does not end with 0, or the user interrupts.
Result<std::vector<Truth>> truths(backend::Backend& backend, linux::Signals& signals,
                                  const std::vector<Payload>& payloads,
                                  const std::function<void(const std::string&, double)>& progress);

/// Where what was counted is not what is declared, of coordinates that no model computes: a sentence for each.
std::vector<std::string> disagreements(const std::vector<Payload>& payloads, const std::vector<Truth>& truths);

/// As declared, a cycle for each instruction: where nothing counts.
std::vector<Truth> declared_truths(const std::vector<Payload>& payloads);

}  // namespace tally::discover
