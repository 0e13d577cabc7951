#include "tally/output/text/numbers.hpp"

#include <fmt/format.h>

#include <array>

namespace tally::report {

std::string size_text(double bytes) {
  constexpr std::array units{"B", "K", "M", "G"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return rounded(bytes, bytes < 10 ? 2 : bytes < 100 ? 1 : 0) + " " + units[unit];
}

std::string rounded(double number, int digits) {
  std::string text = fmt::format("{:.{}f}", number, digits);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace tally::report
