// Options that change settings of the machine for a measurement: what `watch` and `memory` share.
#pragma once

#include <optional>
#include <string>

#include "tally/core/base/result.hpp"
#include "tally/tools/tuning/settings/settings.hpp"

namespace tally::cli {

class Page;

struct SettingOptions {
  bool fix_frequency = false;
  std::string prefetchers = "as they are";
};

/// Adds them to a command's page.
void add_setting_options(Page& page, SettingOptions& options);

/// Puts back what a killed process left, and changes what was asked for. Nothing where nothing was. Errors: as
/// settings::Held::change().
Result<std::optional<settings::Held>> hold_settings(const SettingOptions& options, const std::string& root = "/");

/// Puts back now, and says what there is to say.
void put_settings_back(std::optional<settings::Held>& held);

}  // namespace tally::cli
