// Words and numbers read from text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tally {

/// The words between white space (space, tab, line ends), in order.
std::vector<std::string> split_words(std::string_view text);

/// The whole text as an integer in this base, without a prefix; nothing where anything else is in it or it does not
/// fit.
template <class Integer>
std::optional<Integer> parse_digits(std::string_view text, int base = 10) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The whole text as a number without a sign: decimal, or hexadecimal after "0x" or "0X".
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace tally
