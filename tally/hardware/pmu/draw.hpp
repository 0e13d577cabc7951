// A register as a picture: its bits in boxes, one box per field.
#pragma once

#include <string>

#include "tally/hardware/pmu/codec.hpp"

namespace tally::pmu {

/// How the picture is drawn.
enum class Lines {
  unicode,  ///< box-drawing characters
  ascii,    ///< + - |
};

/// The value's bits under their numbers, and the fields' names below them: 32 bits a row, at most 68 characters wide.
/// Bits in no field are shown as `.` where they are 0. The upper row is left out where no bit of it is set. `layout`
/// shows no bits, only where the fields are.
std::string draw(const Value& value, Lines lines = Lines::unicode, bool layout = false);

}  // namespace tally::pmu
