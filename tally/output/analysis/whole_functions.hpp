// Profiles in which the copies and parts of a function that compilers make belong to the function.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// A profile whose functions contain their clones (core/base/clone_name.hpp), per file of code: by
/// ProfileFunction::clone_of; in results without it by their names and source files. A function whose name has several
/// meanings keeps its own rows. Entries are those of the function and its copies; lowest and highest counts of several
/// runs are sums of those of its clones. Refers to the profile itself if it has no clones, else to a copy. The profile
/// must outlive it. Cost: proportional to the profile.
class WholeFunctions {
 public:
  explicit WholeFunctions(const result::Profile& profile);
  WholeFunctions(const WholeFunctions&) = delete;
  WholeFunctions& operator=(const WholeFunctions&) = delete;

  const result::Profile& get() const { return copy_ ? *copy_ : profile_; }
  /// The index in get() of a function of the profile.
  std::uint32_t index_of(std::uint32_t function) const { return copy_ ? indices_[function] : function; }

 private:
  const result::Profile& profile_;
  std::optional<result::Profile> copy_;
  std::vector<std::uint32_t> indices_;
};

/// For each function of a profile that `name` denotes: the index of its whole function. Functions that tables call so
/// have priority over all of the name (is_called()): other overloads, other instances of a template.
std::map<std::uint32_t, std::uint32_t> functions_called(const result::Profile& profile, std::string_view name);

/// Writes a profile of whole functions in the format `write`, unless the style asks for whole names.
template <std::string (*write)(const result::Profile&, const ProfileStyle&)>
std::string of_whole_functions(const result::Profile& profile, const ProfileStyle& style) {
  return style.whole_names ? write(profile, style) : write(WholeFunctions(profile).get(), style);
}

}  // namespace tally::output
