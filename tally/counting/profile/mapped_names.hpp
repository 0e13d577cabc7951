// Names of the file that code was mapped from, even if its path now names another file.
#pragma once

#include <memory>

#include "tally/counting/profile/code_names.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::profile {

struct MappedNames {
  std::unique_ptr<CodeNames> names;  ///< never null
  bool are_kept = false;             ///< from the kept file, because the path names another file, or none
};

/// Reads the file at the path if it has the same identity or build ID, else the kept file. Errors: bad_usage if neither
/// is available; the message is the reason.
Result<MappedNames> names_of_mapped(const result::CodeFile& file);

}  // namespace tally::profile
