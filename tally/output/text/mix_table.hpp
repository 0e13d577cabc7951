// A table of which instructions were executed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

struct NamedMix {
  std::string name;
  result::InstructionMix mix;
};

/// The share of each category, each width and the most frequent names of the first mix, with its counts, and the shares
/// that the others have of them. None may be empty. `terminal`: as in Grid::text.
std::string mix_table(const std::vector<NamedMix>& mixes, std::size_t terminal);

/// "32.7 %" of the instructions; empty without instructions.
std::string share_text(std::int64_t count, std::int64_t instructions);

}  // namespace tally::output
