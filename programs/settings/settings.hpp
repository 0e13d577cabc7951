// Machine-wide settings that are changed during a measurement and restored afterwards, only if an option requests it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::settings {

/// The requested changes.
struct SettingsRequest {
  bool fix_frequency = false;    ///< every processor at its base frequency, without turbo: cpufreq
  bool prefetchers_off = false;  ///< all four of each Intel core: MSR_MISC_FEATURE_CONTROL
  bool any() const { return fix_frequency || prefetchers_off; }
  bool operator==(const SettingsRequest&) const = default;
};

/// One setting: its previous value, and the value that was set.
struct Change {
  std::string what;  ///< "sys/…/scaling_max_freq", a file below the root; "msr 3 0x1a4", a processor's register
  std::string before, set;
  bool operator==(const Change&) const = default;
};

/// Changes settings of the machine during its lifetime. They are saved in run/tally-settings first, so that another
/// process can restore them. Move-only.
class ScopedSettings {
 public:
  /// First restores what a killed process had changed. Errors: cannot_measure if the machine lacks a setting, this user
  /// may not change it, or a running process holds changes. Changes nothing on errors.
  static Result<ScopedSettings> change(const SettingsRequest& asked, const std::string& root = "/");

  ScopedSettings(ScopedSettings&& other) noexcept;
  ScopedSettings& operator=(ScopedSettings&&) = delete;
  ~ScopedSettings();

  /// Restores now, except settings that another program has changed. Returns notices.
  std::vector<std::string> put_back();

  const std::vector<Change>& changes() const { return changes_; }

 private:
  ScopedSettings(std::string root, std::vector<Change> changes)
      : root_(std::move(root)), changes_(std::move(changes)) {}

  std::string root_;
  std::vector<Change> changes_;
};

/// Restores what a killed process had changed, if this user may. Returns notices; none if nothing was left. Cost: one
/// attempt to open a file.
std::vector<std::string> repair(const std::string& root = "/");

}  // namespace tally::settings
