// The command line of `tally lab`: how it is described, and how it becomes Options.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/lab_options.hpp"
#include "tally/core/base/result.hpp"

namespace tally::command {
class Page;
}

namespace tally::lab {

/// Options as the user wrote them.
struct Arguments {
  Options options;                      ///< those that need no conversion
  std::vector<std::string> statements;  ///< of each -e
  std::string clock;                    ///< "35/12"
  std::string cache;                    ///< "8M"
};

/// Adds the options to the page, bound to `arguments`.
void describe(command::Page& page, Arguments& arguments);

/// Converts them. Errors: bad_usage.
Result<Options> check(Arguments arguments);

}  // namespace tally::lab
