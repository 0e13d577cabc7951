// Names of the file that code was mapped from, and of no other one that has its path by now.
#pragma once

#include <memory>

#include "tally/counting/profile/code_names.hpp"
#include "tally/output/result/code.hpp"

namespace tally::profile {

struct MappedNames {
  std::unique_ptr<CodeNames> names;  ///< never null
  bool are_kept = false;             ///< of the file that is kept: what is at the path is another one, or none
};

/// Reads the file at the path where that has the same identity or the same build id, or the one that is kept. Errors:
/// bad_usage where there is neither; the message is the reason, as it is known.
Result<MappedNames> names_of_mapped(const result::CodeFile& file);

}  // namespace tally::profile
