// Options that name functions and points of the program.
#pragma once

#include <string>
#include <vector>

#include "tally/backend/backend.hpp"
#include "tally/backend/choose/choose.hpp"
#include "tally/base/result.hpp"
#include "tally/cli/page.hpp"

namespace tally::cli {

/// What the user wrote.
struct MarkOptions {
  std::vector<std::string> functions, from, to;
  std::string trap;
  bool rdpmc = false;
};

void add_mark_options(Page& app, MarkOptions& options);

/// What of the engine they need.
backend::Needs::Engine needed_by(const MarkOptions& options);

/// A function or point of a program, as it is written. Errors: bad_usage.
Result<backend::Mark::Point> point_of(const std::string& text);

/// Reads them. Errors: bad_usage.
Result<void> choose_marks(const MarkOptions& options, std::vector<backend::Mark>& marks);

}  // namespace tally::cli
