// Options that several commands have, with the same meaning in each.
#pragma once

#include <string>
#include <vector>

#include "tally/cli/page.hpp"
#include "tally/output/formats/format.hpp"

namespace tally::cli {

/// Adds `--format FORMAT` with this help text; the completion offers the names of the formats. Names are not checked.
void add_format_option(Page& page, std::string& format, const std::vector<const report::Format*>& formats,
                       const std::string& text);

/// Adds `-o, --output FILE` of a command whose result goes to standard output without it.
void add_output_option(Page& page, std::string& output);

/// Adds `-q, --quiet` of a command that chooses a backend.
void add_quiet_option(Page& page, bool& quiet);

}  // namespace tally::cli
