// Sizes and numbers in the style of data sheets.
#pragma once

#include <string>

namespace tally::report {

/// "48 K", "1.96 M": short, as in data sheets.
std::string size_text(double bytes);

/// A number with at most `digits` decimals, without trailing zeros.
std::string rounded(double number, int digits);

}  // namespace tally::report
