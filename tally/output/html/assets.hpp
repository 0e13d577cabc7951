// Files that pages contain, embedded in the program by the build.
#pragma once

#include <string_view>

namespace tally::output {

/// Chart.js, with its licence notice (MIT).
std::string_view chart_library();

/// Dygraphs, with its licence notice (MIT), and its style sheet. Empty if it was missing when tally was built.
std::string_view timeline_library();
std::string_view timeline_style();

std::string_view page_style();

std::string_view page_script();

/// Style and script of pages of profiles.
std::string_view profile_style();
std::string_view profile_script();

/// Style and scripts of pages of windows.
std::string_view windows_style();
std::string_view windows_data_script();
std::string_view windows_parts_script();
std::string_view windows_script();

}  // namespace tally::output
