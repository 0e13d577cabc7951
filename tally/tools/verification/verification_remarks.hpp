// Remarks on counts, from an earlier verification of this machine.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::verify {

/// Whether the verification used this backend, on this processor with this microcode.
bool is_of(const result::Verify& verify, const std::string& backend, const result::Environment& environment);

/// Notes for the user of these counts: unusable events, and how much of a count comes from the page faults and
/// interrupts of that run. Empty if there is nothing to report.
std::vector<std::string> remarks(const result::Verify& verify, const result::Stat& stat);

}  // namespace tally::verify
