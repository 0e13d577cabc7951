// Options that say which machine is simulated, and how.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/simulation.hpp"

namespace tally::cli {

class Page;

/// What the user wrote, and what it means.
struct ModelOptions {
  std::string model, precision = "fast", prefetch = "off", llc = "shared";
  std::optional<unsigned> workers;
  std::string models_by;  ///< tests: how the engine asks the models
  std::optional<backend::Simulation> simulation;

  /// Finds `simulation`: the machine that was named, or `host` where only the way is; none where nothing was said.
  /// Errors: as backend::machine_of().
  Result<void> choose();
};

/// Adds them to a command's page.
void add_model_options(Page& page, ModelOptions& options);

}  // namespace tally::cli
