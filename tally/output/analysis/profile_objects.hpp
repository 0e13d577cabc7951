// Messages about missing information in object files: names of functions, inlined functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The section in which BOLT leaves the old copies of the functions that it moved.
inline constexpr std::string_view section_before_bolt = "[.bolt.org.text]";

/// Names of object files: their paths, or the last component. Ambiguous names get the beginning of the build ID,
/// "prog [1f2e3d4c]", or if that is still ambiguous, a number, "prog #2".
std::vector<std::string> object_names(const result::Profile& profile, bool whole_paths);

/// One sentence with the reason for each object without names.
std::vector<std::string> nameless_lines(const result::Profile& profile);

/// One sentence if a tenth or more of the first event is in functions without names, which are called by their
/// address: "libc.so.6+0x97360". Empty otherwise.
std::string unnamed_share_line(const result::Profile& profile);

/// One sentence for each file of debug information that could not be read; at most a few per object.
std::vector<std::string> unread_lines(const result::Profile& profile);

}  // namespace tally::output
