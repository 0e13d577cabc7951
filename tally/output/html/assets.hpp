// The files that every page carries, as the build laid them into the program.
#pragma once

#include <string_view>

namespace tally::report {

/// Chart.js, with its own notice of its licence (MIT).
std::string_view chart_library();

/// Dygraphs, with its own notice of its licence (MIT), and the style that it needs. Empty where it was not there when
/// tally was built.
std::string_view timeline_library();
std::string_view timeline_style();

std::string_view page_style();

std::string_view page_script();

/// Style and script of pages of profiles.
std::string_view profile_style();
std::string_view profile_script();

/// Style and script of pages of lab runs.
std::string_view lab_style();
std::string_view lab_script();

/// Style and scripts of pages of windows.
std::string_view windows_style();
std::string_view windows_data_script();
std::string_view windows_parts_script();
std::string_view windows_script();

}  // namespace tally::report
