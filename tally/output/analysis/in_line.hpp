// Profiles with every text from outside escaped (core/base/foreign_text.hpp): what the forms that end records with a
// line break are written from.
#pragma once

#include <optional>

#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::report {

/// A profile whose command, names, paths and reasons each stand in one line: the profile itself where they do already,
/// as nearly always, else a copy. The profile must outlive it.
class InLineProfile {
 public:
  explicit InLineProfile(const result::Profile& profile);
  InLineProfile(const InLineProfile&) = delete;
  InLineProfile& operator=(const InLineProfile&) = delete;
  const result::Profile& get() const { return copy_ ? *copy_ : profile_; }

 private:
  const result::Profile& profile_;
  std::optional<result::Profile> copy_;
};

/// A form that is written from such a profile.
template <std::string (*write)(const result::Profile&, const ProfileStyle&)>
std::string in_line(const result::Profile& profile, const ProfileStyle& style) {
  return write(InLineProfile(profile).get(), style);
}

/// The same of a difference.
template <std::string (*write)(const ProfileDifference&, const ProfileStyle&)>
std::string in_line(const ProfileDifference& difference, const ProfileStyle& style) {
  const InLineProfile before(*difference.before), after(*difference.after);
  ProfileDifference shown = difference;
  shown.before = &before.get();
  shown.after = &after.get();
  return write(shown, style);
}

}  // namespace tally::report
