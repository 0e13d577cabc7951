// What assembly may include: %include "lab.inc" for the helpers; the names of registers are there by themselves.
#pragma once

#include <string>
#include <vector>

namespace tally::lab {

/// Names of the registers and of the places of the APIC, as `equ`.
std::string constants_text();

/// lab.inc for 16, 32 or 64 bits.
std::string include_text(int bits);

/// All names that constants and helpers define.
const std::vector<std::string>& names_in_includes();

}  // namespace tally::lab
