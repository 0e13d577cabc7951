#include "tally/core/base/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace tally {
namespace {

/// The first character if it is one of these control characters, else 0. `text` is valid UTF-8.
std::uint32_t control_at(std::string_view text) {
  const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U; };
  if (byte(0) == 0x7f) return 0x7f;
  if (byte(0) == 0xc2 && byte(1) < 0xa0) return byte(1);
  if (byte(0) != 0xe2) return 0;
  const std::uint32_t code = (byte(0) & 0xf) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  const bool is_one =
      code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return is_one ? code : 0;
}

bool may_begin(char c) { return c == '\x7f' || c == '\xc2' || c == '\xe2'; }

}  // namespace

std::string without_controls(std::string json) {
  // JSON outside strings is ASCII, so only strings can change.
  if (std::none_of(json.begin(), json.end(), may_begin)) return json;
  std::string made;
  made.reserve(json.size());
  for (std::size_t at = 0; at < json.size(); ++at) {
    const std::uint32_t code = may_begin(json[at]) ? control_at(std::string_view(json).substr(at)) : 0;
    if (code == 0) {
      made += json[at];
      continue;
    }
    made += fmt::format("\\u{:04x}", code);
    at += code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
  }
  return made;
}

template std::string json_text<nlohmann::ordered_json>(const nlohmann::ordered_json&, int);
template nlohmann::ordered_json parse_json<nlohmann::ordered_json>(std::string_view);
template nlohmann::ordered_json parse_json_or_discard<nlohmann::ordered_json>(std::string_view);

}  // namespace tally
