// The include files for assembly: %include "lab.inc" for the helpers; register names are included automatically.
#pragma once

#include <string>
#include <vector>

namespace tally::lab {

/// Returns the names of registers and of APIC addresses as `equ`.
std::string constants_text();

/// Returns lab.inc for 16, 32 or 64 bits.
std::string include_text(int bits);

/// Returns these files with other names for what the program defines itself, as a label or by `equ`.
std::string without_names_of(const std::string& program, const std::string& included);

/// Returns all names that the constants and helpers define.
const std::vector<std::string>& names_in_includes();

}  // namespace tally::lab
