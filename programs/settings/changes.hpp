// Single settings. Private to this directory.
#pragma once

#include "programs/settings/settings.hpp"

namespace tally::settings {

/// The changes that a request needs, in the order in which to apply them. Errors: cannot_measure if a setting is
/// missing or cannot be read.
Result<std::vector<Change>> changes_for(const SettingsRequest& asked, const std::string& root);

/// Reads and writes a setting. Errors: cannot_measure.
Result<std::string> value_of(const Change& change, const std::string& root);
Result<void> set_value(const Change& change, const std::string& value, const std::string& root);

}  // namespace tally::settings
