// A list of events as it is typed, taken apart at its commas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::event {

/// One event of a list.
struct Item {
  std::string text;       ///< without blanks around it; never empty
  int group = 0;          ///< 0: in none; the first pair of braces is 1
  std::string modifiers;  ///< the letters after the group's closing brace; may be empty
  bool operator==(const Item&) const = default;
};

/// "a,{b,c}:u,cpu/d,e/" → a, b, c, cpu/d,e/. Commas between the slashes of one event are its own. Groups are numbered
/// after `groups_before`. Errors: bad_usage for an empty name or group, and for braces or slashes that do not match.
Result<std::vector<Item>> split_list(std::string_view list, int groups_before = 0);

}  // namespace tally::event
