// The text of a roofline.
#pragma once

#include <string>

#include "tally/output/result/roofline_result.hpp"

namespace tally::output {

/// A sentence for each point, the points as rows, the ceilings, and how they were measured. `terminal`: see
/// Grid::text().
std::string roofline_block(const result::Roofline& roofline, std::size_t terminal);

}  // namespace tally::output
