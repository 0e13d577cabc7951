// The one way from a JSON value to its text.
#pragma once

#include <string>

namespace tally {

/// The text of JSON with those control characters escaped that a JSON writer leaves as they are, and a terminal does
/// not: DEL, C1, separators of lines, marks and overrides of direction. The value stays the same.
std::string without_controls(std::string json);

/// The text of a value (nlohmann::basic_json). Never throws: strings that are no UTF-8, as those of measured programs
/// may be, have U+FFFD in place of such bytes. `indent`: columns for each level; without it all is one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return without_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tally
