// Whether what was asked for fits into this machine.
#pragma once

#include <cstdint>
#include <string>

#include "tally/base/result.hpp"

namespace tally::memory {

/// Whether a region of that size, and the order of its lines, fit into what memory is left. Errors: bad_usage; `option`
/// is the one that takes a smaller size.
Result<void> fits(std::uint64_t region_bytes, const std::string& option);

}  // namespace tally::memory
