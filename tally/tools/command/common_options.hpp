// Options that mean the same in several commands.
#pragma once

#include <string>
#include <vector>

#include "tally/output/kinds/format.hpp"
#include "tally/tools/command/command_page.hpp"

namespace tally::command {

/// Adds `--format FORMAT` with this help text; the completion offers the names of the formats. Does not check names.
void add_format_option(Page& page, std::string& format, const std::vector<const output::Format*>& formats,
                       const std::string& text);

/// Adds `-o, --output FILE`; the command writes to standard output without it.
void add_output_option(Page& page, std::string& output);

/// Adds `--backend BACKEND` with this help text. Stores `sim`, the engine's name in earlier versions, as `engine`. Does
/// not check names: backend::choose does.
Option add_backend_option(Page& page, std::string& backend, const std::string& text);

/// Adds `-q, --quiet`, for commands that choose a backend.
void add_quiet_option(Page& page, bool& quiet);

}  // namespace tally::command
