// The row of the accesses of string instructions in a profile.
#pragma once

namespace tally::result {

/// The name of the row. In profiles with parts it is also the path of a CodeFile that is no file: its rows have the
/// accesses of string instructions (REP) of each owner, which are counted together. Others have CodeCounts::repeated.
inline constexpr const char* string_elements = "[elements of string instructions]";

}  // namespace tally::result
