// The one way from a JSON value to its text.
#pragma once

#include <string>

namespace tally {

/// The text of a value (nlohmann::basic_json). Never throws: strings that are no UTF-8, as those of measured programs
/// may be, have U+FFFD in place of such bytes. `indent`: columns for each level; without it all is one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tally
