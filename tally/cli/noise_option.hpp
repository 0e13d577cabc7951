// --noise: adds the errors of a hardware counter to the engine's counts.
#pragma once

#include <optional>
#include <string>

#include "tally/cli/commands.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/tools/verify/counter_noise.hpp"

namespace tally::cli {

void add_noise_option(Page& page, std::string& text);

/// Parses the option; an empty text is no noise. Errors: bad_usage, also for a backend other than the engine.
Result<std::optional<verify::Noise>> noise_of(const std::string& text, const backend::Backend& backend);

}  // namespace tally::cli
