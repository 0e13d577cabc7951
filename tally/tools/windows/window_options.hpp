// Options that define where windows begin and what ends them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::windows {

/// The options as given.
struct WindowOptions {
  std::vector<std::string> every, by;
  std::string frequency, start, stop, trap;
  bool merged = false, per_entry = false;
};

void add_window_options(command::Page& app, WindowOptions& options);

/// Converts the options. `merged`: the length of a window of a process, if those are requested; the windows of threads
/// are then parts of it. Errors: bad_usage.
Result<void> choose_windows(const WindowOptions& options, backend::Order::Windows& windows, std::uint64_t& merged);

}  // namespace tally::windows
