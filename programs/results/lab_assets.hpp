// Files that pages of lab runs contain, embedded in the program by the build.
#pragma once

#include <string_view>

namespace tally::output {

std::string_view lab_style();
std::string_view lab_script();

}  // namespace tally::output
