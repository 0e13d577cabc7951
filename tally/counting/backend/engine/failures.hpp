// An engine that failed itself: said as that, with a file for the report.
#pragma once

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// Where an engine failed in the run: `execution` has the words for it, and exit code 125. The program was not killed
/// then, whatever its wait status says. Writes a file into the folder of temporary files.
void report_failure(Channel& shared, Execution& execution);

}  // namespace tally::backend::engine
