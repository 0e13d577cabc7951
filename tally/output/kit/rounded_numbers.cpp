#include "tally/output/kit/rounded_numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tally::output {

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

std::string percent_change(double before, double after) {
  if (before == 0) return "";
  const double percent = 100 * (after - before) / before;
  return std::abs(percent) < 0.01 ? fmt::format("{:+.2g} %", percent) : fmt::format("{:+.2f} %", percent);
}

}  // namespace tally::output
