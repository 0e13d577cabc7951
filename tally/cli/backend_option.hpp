// The option --backend, as every command that counts accepts it.
#pragma once

#include <string>

#include "tally/cli/page.hpp"

namespace tally::cli {

/// Adds `--backend BACKEND` with this help text. `sim`, the name of the engine in earlier versions, is stored as
/// `engine`. Names are not checked: backend::choose does that.
Option add_backend_option(Page& page, std::string& backend, const std::string& text);

}  // namespace tally::cli
