// Converts JSON values to text, and text to JSON values.
//
// The writer and the parser of the JSON library take seconds to compile. These functions contain the only ones: they
// are compiled here for nlohmann::ordered_json, and in tally/output/result/json_reading.cpp for the variant of that
// type with JSON_DIAGNOSTICS.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

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

/// The value of a text. Throws Json::parse_error if the text is not JSON.
template <class Json>
Json parse_json(std::string_view text) {
  return Json::parse(text);
}

/// The value of a text; a discarded value if the text is not JSON.
template <class Json>
Json parse_json_or_discard(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

extern template std::string json_text<nlohmann::ordered_json>(const nlohmann::ordered_json&, int);
extern template nlohmann::ordered_json parse_json<nlohmann::ordered_json>(std::string_view);
extern template nlohmann::ordered_json parse_json_or_discard<nlohmann::ordered_json>(std::string_view);

}  // namespace tally
