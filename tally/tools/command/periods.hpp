// Parses the length of a window or sampling period: "50000", "50k", "1ms".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::command {

/// A number of events, or of nanoseconds.
struct Period {
  std::uint64_t number = 0;
  bool is_time = false;  ///< given with a unit of time
};

/// Parses the value of an option such as --every. Errors: bad_usage.
Result<Period> period_of(const std::string& text, std::string_view option);

/// Checks that the period suits the event: a time needs a clock, and must not be shorter than the kernel's timers
/// allow. `option`: the option as given. Errors: bad_usage.
Result<void> check_period(const Period& period, const event::Event& event, const std::string& option);

}  // namespace tally::command
