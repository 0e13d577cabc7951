// Settings of the whole machine that are changed for a measurement, and put back: by an option that names them, never
// otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::settings {

/// What is to be changed.
struct Asked {
  bool fix_frequency = false;    ///< every processor at its base frequency, without turbo: cpufreq
  bool prefetchers_off = false;  ///< the four of each Intel core: MSR_MISC_FEATURE_CONTROL
  bool any() const { return fix_frequency || prefetchers_off; }
  bool operator==(const Asked&) const = default;
};

/// One setting: what it was, and what it was set to.
struct Change {
  std::string what;  ///< "sys/…/scaling_max_freq", a file below the root; "msr 3 0x1a4", a processor's register
  std::string before, set;
  bool operator==(const Change&) const = default;
};

/// While it lives, the machine is changed. It is written down in run/tally-settings before anything is, so that
/// another process can put it back. Moves, never copies.
class Held {
 public:
  /// Puts back first what a process that was killed had changed. Errors: cannot_measure where a setting is missing on
  /// this machine, where this user may not change it, and where a living process holds changed ones; then nothing is
  /// changed.
  static Result<Held> change(const Asked& asked, const std::string& root = "/");

  Held(Held&& other) noexcept;
  Held& operator=(Held&&) = delete;
  ~Held();

  /// Puts back now. What somebody else has set meanwhile is left so. Returns what there is to say.
  std::vector<std::string> put_back();

  const std::vector<Change>& changes() const { return changes_; }

 private:
  Held(std::string root, std::vector<Change> changes) : root_(std::move(root)), changes_(std::move(changes)) {}

  std::string root_;
  std::vector<Change> changes_;
};

/// Puts back what a process that was killed had changed, where there is such and this user may. Returns what there is
/// to say; nothing where nothing was left. Cost: one file that is not there.
std::vector<std::string> repair(const std::string& root = "/");

}  // namespace tally::settings
