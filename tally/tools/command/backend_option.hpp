// The option --backend, shared by the commands that count.
#pragma once

#include <string>

#include "tally/tools/command/command_page.hpp"

namespace tally::command {

/// Adds `--backend BACKEND` with this help text. Stores `sim`, the engine's name in earlier versions, as `engine`. Does
/// not check names: backend::choose does.
Option add_backend_option(Page& page, std::string& backend, const std::string& text);

}  // namespace tally::command
