// Options that name functions and points of the program.
#pragma once

#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/base/result.hpp"
#include "tally/cli/page.hpp"

namespace tally::cli {

/// What the user wrote.
struct MarkOptions {
  std::vector<std::string> functions, from, to;
};

void add_mark_options(Page& app, MarkOptions& options);

/// Reads them. Errors: bad_usage.
Result<void> choose_marks(const MarkOptions& options, std::vector<backend::Mark>& marks);

}  // namespace tally::cli
