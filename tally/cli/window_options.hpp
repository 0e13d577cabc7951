// Options that say what ends windows, and where they begin.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/cli/page.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"

namespace tally::cli {

/// What the user wrote.
struct WindowOptions {
  std::vector<std::string> every, by;
  std::string frequency, start, stop;
  bool merged = false;
};

void add_window_options(Page& app, WindowOptions& options);

/// Reads them. `merged`: how much a window of a process has where those are wanted; those of threads are parts of it
/// then. Errors: bad_usage.
Result<void> choose_windows(const WindowOptions& options, backend::WindowOrder& order, std::uint64_t& merged);

}  // namespace tally::cli
