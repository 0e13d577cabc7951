#include "tally/core/base/parse_text.hpp"

#include <algorithm>

namespace tally {

std::vector<std::string> split_words(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(blank, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blank, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  return is_hexadecimal ? parse_digits<std::uint64_t>(text.substr(2), 16) : parse_digits<std::uint64_t>(text);
}

}  // namespace tally
