// --noise: adds the errors of a hardware counter to the engine's counts.
#pragma once

#include <optional>
#include <string>

#include "tally/counting/backend/backend.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/noise/counter_noise.hpp"

namespace tally::verify {

void add_noise_option(command::Page& page, std::string& text);

/// Parses the option; an empty text is no noise. Errors: bad_usage, also for a backend other than the engine.
Result<std::optional<Noise>> noise_of(const std::string& text, const backend::Backend& backend);

}  // namespace tally::verify
