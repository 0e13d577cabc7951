// Draws a register as a diagram of bits, one box per field.
#pragma once

#include <string>

#include "programs/register/pmu/codec.hpp"

namespace tally::pmu {

/// The characters of the diagram.
enum class Lines {
  unicode,  ///< box-drawing characters
  ascii,    ///< + - |
};

/// Draws the bits under their numbers, and the field names below: 32 bits a row, at most 68 characters wide. Zero bits
/// outside of fields are `.`. Omits the upper row if none of its bits is set. `layout` shows only the positions of the
/// fields, no bits.
std::string draw(const Value& value, Lines lines = Lines::unicode, bool layout = false);

}  // namespace tally::pmu
