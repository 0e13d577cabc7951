// Parses words and numbers.
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

/// Parses the whole text as an integer in this base, without a prefix. Returns nothing if it contains anything else or
/// does not fit.
template <class Integer>
std::optional<Integer> parse_digits(std::string_view text, int base = 10) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Parses the whole text as an unsigned number: decimal, or hexadecimal after "0x" or "0X".
std::optional<std::uint64_t> parse_unsigned(std::string_view text);

}  // namespace tally
