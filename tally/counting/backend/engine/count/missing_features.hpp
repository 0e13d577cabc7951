// Instructions that a program executed although the CPU model lacks them.
#pragma once

#include <vector>

#include "tally/counting/backend/engine/run.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::backend::engine {

/// Returns them by feature and file, in the order in which the programs first reached them.
std::vector<result::UnaskedCode> unasked_code(const Channel& shared);

}  // namespace tally::backend::engine
