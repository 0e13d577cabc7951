// Splits a list of events at its commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::event {

/// One event of a list.
struct Item {
  std::string text;       ///< without surrounding spaces; never empty
  int group = 0;          ///< 0: in none; the first pair of braces is 1
  std::string modifiers;  ///< modifiers after the group's closing brace; may be empty
  bool operator==(const Item&) const = default;
};

/// "a,{b,c}:u,cpu/d,e/" → a, b, c, cpu/d,e/. Commas between the slashes of an event do not split. Group numbers start
/// after `groups_before`. Errors: bad_usage for an empty name or group, and for unmatched braces or slashes.
Result<std::vector<Item>> split_list(std::string_view list, int groups_before = 0);

}  // namespace tally::event
