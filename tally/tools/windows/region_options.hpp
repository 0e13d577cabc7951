// Options that define regions of the program: functions, pairs of locations, traps.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::windows {

/// The options as given.
struct RegionOptions {
  std::vector<std::string> functions, from, to;
  std::string trap;
  bool rdpmc = false;
  bool per_entry = false;
};

void add_region_options(command::Page& app, RegionOptions& options);
/// Adds `--trap` and `--per-entry` alone.
void add_entry_options(command::Page& page, std::string& trap, bool& per_entry);

/// The names of --function: in lists with commas, which may also be inside the brackets of a C++ name.
std::vector<std::string> listed_functions(const std::vector<std::string>& lists);

/// Parses a function or location of a program. Errors: bad_usage.
Result<backend::CodeRegion::Point> point_of(const std::string& text);

/// What the values of --trap mean; "": Trap::none.
backend::CodeRegion::Trap trap_of(const std::string& word);

/// Returns the search for functions by the names that profiles print: see backend::FunctionFinder.
backend::FunctionFinder function_finder();

/// Converts the options to regions. Errors: bad_usage.
Result<void> choose_regions(const RegionOptions& options, std::vector<backend::CodeRegion>& regions);

}  // namespace tally::windows
