// Reports why the engine ended a program: it failed, with a file for a bug report, or --strict was given.
#pragma once

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// The exit code of a program that the engine ended.
inline constexpr int could_not_measure = 125;

/// If an engine ended a program, sets the message and exit code 125 in `execution`. If it failed, writes a report to
/// the directory for temporary files; the program was not killed then, although its wait status may say so.
void report_failure(Channel& shared, Execution& execution);

}  // namespace tally::backend::engine
