#include "tally/core/base/foreign_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tally {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

/// One character of the text, or one invalid byte.
struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool is_valid = false;
};

/// Decodes the first character, as in RFC 3629.
Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {1, first, true};
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0) return {};
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  // Overlong encodings, surrogates, and codes above U+10FFFF are invalid.
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (is_overlong || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {};
  return {length, code, true};
}

/// Whether a terminal or a line-based reader interprets the character instead of showing it: C0 and C1 controls, line
/// and paragraph separators, direction marks and overrides.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

void add_escape(std::uint32_t code, std::string& to) {
  switch (code) {
    case '\n': to += "\\n"; return;
    case '\r': to += "\\r"; return;
    case '\t': to += "\\t"; return;
    default: break;
  }
  to += code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// `kept`: control characters that are not escaped.
std::string escaped(std::string_view text, std::string_view kept) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    while (at < text.size() && text[at] >= ' ' && text[at] <= '~') ++at;
    made += text.substr(begin, at - begin);
    if (at == text.size()) break;
    const Character one = first_of(text.substr(at));
    if (!one.is_valid) {
      made += replacement;
    } else if (is_control(one.code) && kept.find(text[at]) == std::string_view::npos) {
      add_escape(one.code, made);
    } else {
      made += text.substr(at, one.bytes);
    }
    at += one.bytes;
  }
  return made;
}

}  // namespace

std::string ForeignText::in_line() const { return escaped(bytes_, {}); }

std::string ForeignText::in_lines() const { return escaped(bytes_, "\n\t"); }

std::string ForeignText::utf8() const {
  std::string made;
  for (std::size_t at = 0; at < bytes_.size();) {
    const Character one = first_of(bytes_.substr(at));
    made += one.is_valid ? bytes_.substr(at, one.bytes) : replacement;
    at += one.bytes;
  }
  return made;
}

bool ForeignText::is_plain() const {
  for (std::size_t at = 0; at < bytes_.size();) {
    const Character one = first_of(bytes_.substr(at));
    if (!one.is_valid || is_control(one.code)) return false;
    at += one.bytes;
  }
  return true;
}

}  // namespace tally
