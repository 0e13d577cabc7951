// Sizes and times as data sheets write them.
#pragma once

#include <string>

namespace tally::report {

/// "48 K", "1.96 M": as short as sizes are written in data sheets.
std::string size_text(double bytes);

/// A number with at most `digits` after the point, without zeros at its end.
std::string rounded(double number, int digits);

}  // namespace tally::report
