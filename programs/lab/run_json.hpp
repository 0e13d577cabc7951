// Writes a run as JSON.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/computer.hpp"
#include "programs/lab/timeline.hpp"

namespace tally::lab {

/// Returns the whole run as one JSON object, with the JSON object `provenance`, or null if it is empty. Register
/// numbers and addresses are hexadecimal strings, counts are numbers.
std::string json_text(const std::vector<Entry>& entries, const End& end, const Computer& machine,
                      const std::vector<pmu::Remark>& remarks, const Timeline& timeline, const std::string& provenance);

}  // namespace tally::lab
