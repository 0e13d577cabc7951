#include "tally/tools/command/backend_option.hpp"

namespace tally::command {

Option add_backend_option(Page& page, std::string& backend, const std::string& text) {
  return page.add_option("--backend", backend, text).value_name("BACKEND").renamed("sim", "engine");
}

}  // namespace tally::command
