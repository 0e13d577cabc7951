// Sizes and numbers in the style of data sheets.
#pragma once

#include <string>

namespace tally::output {

/// "48 K", "1.96 M": short, as in data sheets.
std::string size_text(double bytes);

/// A number with at most `digits` decimals, without trailing zeros.
std::string rounded(double number, int digits);

/// "+2.13 %", "+0.00013 %"; empty without a value before.
std::string percent_change(double before, double after);

}  // namespace tally::output
