// Profiles with every text from outside escaped (core/base/foreign_text.hpp), for formats whose records end with a line
// break.
#pragma once

#include <optional>

#include "tally/output/analysis/profile_difference.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::report {

/// A profile whose command, names, paths and reasons contain no line breaks. Refers to the profile itself if it has
/// none, which is usual; else to an escaped copy. The profile must outlive it.
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

/// Writes a profile with escaped texts in the format `write`.
template <std::string (*write)(const result::Profile&, const ProfileStyle&)>
std::string in_line(const result::Profile& profile, const ProfileStyle& style) {
  return write(InLineProfile(profile).get(), style);
}

/// The same for a difference.
template <std::string (*write)(const ProfileDifference&, const ProfileStyle&)>
std::string in_line(const ProfileDifference& difference, const ProfileStyle& style) {
  const InLineProfile before(*difference.before), after(*difference.after);
  ProfileDifference shown = difference;
  shown.before = &before.get();
  shown.after = &after.get();
  return write(shown, style);
}

}  // namespace tally::report
