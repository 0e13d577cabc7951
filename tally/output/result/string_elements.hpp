// The row of what string and masked instructions did in a profile, as far as it depends on data.
#pragma once

namespace tally::result {

/// The name of the row. In profiles with parts it is also the path of a CodeFile that is no file: its rows have the
/// amounts of string instructions (REP) and of instructions with a mask of each owner, which are counted together.
/// Others have CodeCounts::repeated.
inline constexpr const char* string_elements = "[string and masked instructions]";

}  // namespace tally::result
