// Reports a failure of the engine itself, with a file for a bug report.
#pragma once

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// If an engine failed in the run, sets the message and exit code 125 in `execution`, and writes a report to the
/// directory for temporary files. The program was not killed then, although its wait status may say so.
void report_failure(Channel& shared, Execution& execution);

}  // namespace tally::backend::engine
