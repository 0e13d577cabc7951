// Describes the passes of events that a PMU cannot count at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/hardware/event/plan.hpp"

namespace tally::cli {

/// "instructions:u, cycles:u"
std::string names_of(const std::vector<event::Event>& events, const event::Pass& pass);
/// "pass 1: instructions:u, cycles:u", one line per pass.
std::vector<std::string> lines_of(const std::vector<event::Event>& events, const event::Plan& plan);
/// The error for more events than counters. `has_command`: a command can be executed several times.
Error passes_error(const std::vector<event::Event>& events, const event::Plan& plan, bool has_command);
/// The error if the command cannot be executed several times with the same result.
std::optional<Error> why_no_passes(const measure::StatOptions& options);

}  // namespace tally::cli
