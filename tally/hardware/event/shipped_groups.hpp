// Groups: events and metrics that answer one question, under one name, as `likwid-perfctr -g` has them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::event {

struct EventGroup {
  std::string what;                        ///< the question, in one line
  std::vector<std::string> events;         ///< lists, as for `-e`
  std::vector<std::string> metrics;        ///< lists, as for `-M`
  std::vector<std::string> optional = {};  ///< lists of events that some machines lack
  bool operator==(const EventGroup&) const = default;
};

/// A group that tally has.
struct ShippedGroup {
  std::string_view name, text;
};
std::span<const ShippedGroup> shipped_groups();

/// Reads the text of a group: a first line `# WHAT`, then lines `event LIST`, `optional LIST` and `metric LIST` or
/// `metric NAME=FORMULA`; other lines that begin with # are comments. Errors: bad_usage with the number of the line.
Result<EventGroup> parse_group(std::string_view text);

}  // namespace tally::event
