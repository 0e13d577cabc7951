// `tally report` of files that `tally profile` wrote: the page of one, or the difference of two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::cli {

class Page;

/// The options for showing profiles.
struct ProfileReport {
  std::string format;      ///< empty: chosen by the output's file name
  std::string by;          ///< empty: function
  std::optional<int> top;  ///< rows of the table
  bool whole_names = false;
  bool any() const { return !format.empty() || !by.empty() || top || whole_names; }
};

/// Reads source files from the paths in the debug information.
report::SourceReader source_reader();

void add_profile_options(Page& page, ProfileReport& options);

/// Writes the page or table of one profile, or the difference of two; rejects more than two. Returns the exit code.
int report_profiles(const std::vector<result::Profile>& profiles, const ProfileReport& options,
                    const std::string& output, const std::vector<std::string>& files);

}  // namespace tally::cli
