// Event tables that the user supplies: the vendors' published JSON (perfmon), the kernel's copies of it, and the output
// of `tally discover --table`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::event {

/// An event of such a table.
struct GivenEvent {
  std::string name;
  std::string what;
  std::string counters;  ///< which counters, as in the table; may be empty
  std::string remarks;   ///< errata, and whether it must be counted alone; may be empty
  std::uint64_t config = 0, config1 = 0;
  bool operator==(const GivenEvent&) const = default;
};

/// A whole table.
struct GivenTable {
  std::string origin;      ///< the file
  std::string provenance;  ///< "the vendor's", "discovered"
  std::vector<GivenEvent> events;
  std::vector<std::string> left_out;  ///< number of skipped entries for each reason
  bool operator==(const GivenTable&) const = default;
};

/// Parses a table: an array of objects, or an object with `Events`. Fields as in intel/perfmon: EventCode, UMask,
/// EventName, BriefDescription, PublicDescription, Counter, CounterMask, Invert, EdgeDetect, AnyThread, MSRIndex,
/// MSRValue, TakenAlone, Errata, Unit. `standards`: texts of the tables that ArchStdEvent entries refer to, as in the
/// kernel's copies of Arm's tables. Errors: bad_usage with the location.
Result<GivenTable> parse_given(std::string_view text, std::string_view origin,
                               std::span<const std::string> standards = {});

/// Finds an event by name, ignoring case and with `:` or `.`; null if unknown.
const GivenEvent* find_given(const GivenTable& table, std::string_view name);

}  // namespace tally::event
