// Writes reports to files whose names tally chooses.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Writes a new file NAME-XXXXXX.txt in the temporary directory (TMPDIR, else /tmp), readable by its owner alone.
/// Returns its path. Errors: cannot_write.
Result<std::string> write_report(std::string_view name, std::string_view text);

}  // namespace tally::linux
