// "50000", "50k", "1ms": how many events, as an option takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::cli {

/// So many events, or nanoseconds.
struct Period {
  std::uint64_t number = 0;
  bool is_time = false;  ///< it was given with a unit of time
};

/// The value of an option such as --every. Errors: bad_usage.
Result<Period> period_of(const std::string& text, std::string_view option);

/// Whether an event counts time.
bool is_clock(const event::Event& event);

/// A period of this event: a time is one of a clock, and not shorter than the kernel's timers. `option`: as it was
/// given. Errors: bad_usage.
Result<void> check_period(const Period& period, const event::Event& event, const std::string& option);

}  // namespace tally::cli
