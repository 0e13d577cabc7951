// The files that every page carries, as the build laid them into the program.
#pragma once

#include <string_view>

namespace tally::report {

/// Chart.js, with its own notice of its licence (MIT).
std::string_view chart_library();

std::string_view page_style();

std::string_view page_script();

}  // namespace tally::report
