// `tally report` of files that `tally profile` wrote: the table or page of one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::report {

/// The options for showing profiles.
struct ProfileReport {
  std::string by;          ///< empty: function
  std::optional<int> top;  ///< rows of the table
  bool whole_names = false;
  bool any() const { return !by.empty() || top || whole_names; }
};

/// The style of the table. Errors: bad_usage.
Result<output::ProfileStyle> style_of(const ProfileReport& options);

void add_profile_options(command::Page& page, ProfileReport& options);

/// Writes a profile in the format of this name; empty: chosen by the output's file name. Returns the exit code.
int report_profile(const result::Profile& profile, const ProfileReport& options, const std::string& format,
                   const std::string& output);

/// The formats that can be written from a stored profile.
std::vector<output::ProfileFormat> formats_of_stored_profiles();

}  // namespace tally::report
