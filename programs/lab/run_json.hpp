// Writes a run as JSON.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/computer.hpp"
#include "programs/lab/timeline.hpp"
#include "tally/output/result/provenance.hpp"

namespace tally::lab {

/// Returns the whole run as one JSON object, with its provenance. Register
/// numbers and addresses are hexadecimal strings, counts are numbers.
std::string json_text(const std::vector<Entry>& entries, const End& end, const Computer& machine,
                      const std::vector<pmu::Remark>& remarks, const Timeline& timeline,
                      const result::Provenance& provenance);

}  // namespace tally::lab
