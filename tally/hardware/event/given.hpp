// Tables of events that the user gives: the vendors' published JSON (perfmon), the kernel's copies of it, and what
// `tally discover --table` writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::event {

/// One event of such a table.
struct GivenEvent {
  std::string name;
  std::string what;
  std::string counters;  ///< on which, as the table writes it; may be empty
  std::string remarks;   ///< errata, and that it has to be counted alone; may be empty
  std::uint64_t config = 0, config1 = 0;
  bool operator==(const GivenEvent&) const = default;
};

/// A whole table.
struct GivenTable {
  std::string origin;      ///< the file
  std::string provenance;  ///< "the vendor's", "discovered"
  std::vector<GivenEvent> events;
  std::vector<std::string> left_out;  ///< how many entries were not for a core's counters, and why
  bool operator==(const GivenTable&) const = default;
};

/// Reads a table: an array of objects, or an object with `Events`. Fields as in intel/perfmon: EventCode, UMask,
/// EventName, BriefDescription, PublicDescription, Counter, CounterMask, Invert, EdgeDetect, AnyThread, MSRIndex,
/// MSRValue, TakenAlone, Errata, Unit. `standards`: texts of the tables that entries with ArchStdEvent refer to, as the
/// kernel's copies of Arm's do. Errors: bad_usage with the place.
Result<GivenTable> parse_given(std::string_view text, std::string_view origin,
                               std::span<const std::string> standards = {});

/// The event of this name, in upper or lower case and with `:` for a `.`; null where there is none.
const GivenEvent* find_given(const GivenTable& table, std::string_view name);

}  // namespace tally::event
