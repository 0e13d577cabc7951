// `tally report --merge`: several stored profiles as one.
#pragma once

#include <string>
#include <vector>

#include "programs/results/report_profile.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::results {

struct MergeOptions {
  bool merge = false;
  std::string object;
  std::vector<std::string> include, exclude;
  std::string fail_under;
};

void add_merge_options(command::Page& page, MergeOptions& options);

/// Writes the sum of the profiles in the files. `format`: empty: chosen by the output's file name. Returns the exit
/// code.
int merge_profiles(const std::vector<std::string>& files, const MergeOptions& options,
                   const report::ProfileReport& table, const std::string& format, const std::string& output);

}  // namespace tally::results
