// Profiles with every text from outside escaped (core/base/foreign_text.hpp), for formats whose records end with a line
// break.
#pragma once

#include <optional>

#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

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

}  // namespace tally::output
