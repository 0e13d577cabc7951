// What `tally report` says of files of `tally profile`: the page of one, the difference of two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/profile.hpp"

namespace tally::cli {

class Page;

/// How a profile is told of.
struct ProfileReport {
  std::string format;      ///< empty: by the output's name
  std::string by;          ///< empty: function
  std::optional<int> top;  ///< rows of the table
  bool whole_names = false;
  bool any() const { return !format.empty() || !by.empty() || top || whole_names; }
};

/// Reads files of source from where the compiler found them.
report::SourceReader source_reader();

void add_profile_options(Page& page, ProfileReport& options);

/// Writes the page or table of one profile, or the difference of two. Returns the exit code; more than two are refused.
int report_profiles(const std::vector<result::Profile>& profiles, const ProfileReport& options,
                    const std::string& output, const std::vector<std::string>& files);

}  // namespace tally::cli
