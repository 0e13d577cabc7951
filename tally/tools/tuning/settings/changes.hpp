// Single settings: inside of this directory only.
#pragma once

#include "tally/tools/tuning/settings/settings.hpp"

namespace tally::settings {

/// What is to be changed on a machine, in the order in which it can be. Errors: cannot_measure where a setting is
/// missing, or may not be read.
Result<std::vector<Change>> changes_for(const Asked& asked, const std::string& root);

/// What a setting is now, and making it something else. Errors: cannot_measure.
Result<std::string> value_of(const Change& change, const std::string& root);
Result<void> set_value(const Change& change, const std::string& value, const std::string& root);

}  // namespace tally::settings
