// Options of `watch` and `memory` that change settings of the machine during a measurement.
#pragma once

#include <optional>
#include <string>

#include "programs/settings/settings.hpp"
#include "tally/core/base/result.hpp"

namespace tally::command {
class Page;
}

namespace tally::settings {

struct SettingOptions {
  bool fix_frequency = false;
  std::string prefetchers = "as they are";
};

/// Adds the options to a command's page.
void add_setting_options(command::Page& page, SettingOptions& options);

/// Restores what a killed process left changed, then applies the requested settings. Returns nothing if none was
/// requested. Errors: those of ScopedSettings::change().
Result<std::optional<ScopedSettings>> apply_settings(const SettingOptions& options, const std::string& root = "/");

/// Restores the settings now, and prints the messages about it.
void restore_settings(std::optional<ScopedSettings>& held);

}  // namespace tally::settings
