// Accesses of string instructions in the parts of a profile.
#pragma once

namespace tally::result {

/// The path of a CodeFile that is no file: its rows have the accesses of string instructions (REP) of each owner, which
/// are counted together. Only profiles with parts have it; others have CodeCounts::repeated.
inline constexpr const char* string_elements = "[elements of string instructions]";

}  // namespace tally::result
