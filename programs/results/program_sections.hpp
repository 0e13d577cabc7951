// Sections of pages for results that only programs around the stack have.
#pragma once

#include "tally/output/kinds/page_format.hpp"
#include "tally/output/result/discovery_result.hpp"
#include "tally/output/result/lab_run.hpp"

namespace tally::output {

/// A run of `tally lab`.
PageSection page_section(const result::LabRun& run);

/// A map of events and payloads, and the evidence for each.
PageSection page_section(const result::Discovery& discovery);

}  // namespace tally::output
