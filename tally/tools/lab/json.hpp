// A run for programs.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/lab/computer.hpp"
#include "tally/tools/lab/timeline.hpp"

namespace tally::lab {

/// All of it as one JSON object. Numbers of registers and addresses are hexadecimal texts, counts are numbers.
std::string json_text(const std::vector<Entry>& entries, const End& end, const Computer& machine,
                      const std::vector<pmu::Remark>& remarks, const Timeline& timeline);

}  // namespace tally::lab
