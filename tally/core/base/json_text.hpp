// Converts a JSON value to text.
#pragma once

#include <string>

namespace tally {

/// Escapes the control characters that a JSON writer leaves unescaped but a terminal interprets: DEL, C1, line
/// separators, direction marks and overrides. The value stays the same.
std::string without_controls(std::string json);

/// The text of a value (nlohmann::basic_json). Never throws: in strings with invalid UTF-8, which measured programs may
/// produce, such bytes become U+FFFD. `indent`: columns for each level; the default writes a single line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return without_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tally
