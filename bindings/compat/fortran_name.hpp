// Names of regions as Fortran passes them: without a zero at the end, padded with blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally::compat {

/// Returns the name without the blanks at its end. `length` is the hidden argument of Fortran's compilers.
inline std::string fortran_name(const char* text, std::size_t length) {
  const std::string_view name(text, length);
  return std::string(name.substr(0, name.find_last_not_of(' ') + 1));
}

}  // namespace tally::compat
