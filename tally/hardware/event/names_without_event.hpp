// Names of PAPI, LIKWID, perf and the vendors that tally has no event for, and what it counts instead.
#pragma once

#include <optional>
#include <string_view>

namespace tally::event {

struct NameWithoutEvent {
  std::string_view name;     ///< in any case; a '*' at its end stands for anything
  std::string_view what;     ///< what it counts
  std::string_view instead;  ///< the nearest that can be counted, as a hint
};

/// Finds the name of an event, or of the kernel's PMU in "PMU/...".
std::optional<NameWithoutEvent> name_without_event(std::string_view name);

}  // namespace tally::event
