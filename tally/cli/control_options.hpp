// The options with which another program switches counting on and off, as with perf stat.
#pragma once

#include <optional>
#include <string>

#include "tally/cli/commands.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/linux/process/control_channel.hpp"

namespace tally::cli {

/// The value of --delay with which counting begins by a command.
inline constexpr int no_delay = -1;

/// Checks the value of --delay: milliseconds, or no_delay.
std::string is_delay(const std::string& value);

/// The option as given, and the channel that it opens.
struct ControlOptions {
  std::string source;
  std::optional<linux::ControlChannel> channel = {};

  /// Opens the channel, and sets the order's timing, which refers to it. Errors: bad_usage, also for options that
  /// cannot be combined with it.
  Result<void> choose(backend::Order& order);
};

void add_control_options(Page& page, ControlOptions& options);

}  // namespace tally::cli
