// Options that choose the simulated machine.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/tools/launch/launch.hpp"

namespace tally::launch {

/// The options as given, and the simulation that they select.
struct ModelOptions {
  std::string model, precision = "fast", prefetch = "off", llc = "shared";
  std::optional<unsigned> workers;
  std::string models_by;  ///< for tests: how the engine runs the models
  std::optional<backend::Simulation> simulation;

  /// Sets `simulation`: the named machine, `host` if only other options are given, nothing if no option is given.
  /// Errors: those of backend::machine_of().
  Result<void> choose();
};

/// Adds the options to a command's page.
void add_model_options(Page& page, ModelOptions& options);

}  // namespace tally::launch
