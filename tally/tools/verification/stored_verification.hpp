// The last verification of this machine, which later results refer to.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::verify {

/// Stores the JSON of a verification in the directory of tally's own files and replaces the previous one of the
/// backend.
/// Stores nothing if the directory cannot be written, or if other users can change it.
void store_verification(const std::string& backend, const std::string& json);

/// Remarks of the stored verification on these counts. Empty without a verification of the same backend, processor and
/// microcode, or if other users could have written it.
std::vector<std::string> verification_remarks(const result::Stat& stat);

}  // namespace tally::verify
