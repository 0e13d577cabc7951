#include "tally/cli/build_description.hpp"

#include <fmt/format.h>

#include "tally/core/base/version.hpp"

namespace tally::cli {

std::string build_description() {
  std::string text = fmt::format("tally {}\n", version());
  if (!commit().empty()) text += fmt::format("commit: {}\n", commit());
  return text + fmt::format("build: {}, engine {}, static {}\n", TALLY_COMPILER, TALLY_WITH_ENGINE ? "yes" : "no",
                            TALLY_IS_STATIC ? "yes" : "no");
}

}  // namespace tally::cli
