// What an earlier verification of this machine says about a count of today.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::verify {

/// Whether it was made by the same way to count, on this processor with this microcode.
bool is_of(const result::Verify& verify, const std::string& backend, const result::Environment& environment);

/// What a user of these counts should know: events that were found unusable, and how many of a count the page faults
/// and interrupts of that run are. Empty where there is nothing to say.
std::vector<std::string> remarks(const result::Verify& verify, const result::Stat& stat);

}  // namespace tally::verify
