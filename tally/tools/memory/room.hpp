// Whether what was asked for fits into this machine.
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::memory {

/// So much memory stays mapped after it was walked, where `available_bytes` are left: so many huge pages that the
/// mappings of a size differ in theirs, and little beside the largest rings.
std::uint64_t most_aside_bytes(std::uint64_t available_bytes);

/// Whether a region of that size, the order of its lines and what stays mapped fit into what memory is left. Errors:
/// bad_usage; `option` is the one that takes a smaller size.
Result<void> fits(std::uint64_t region_bytes, const std::string& option);

}  // namespace tally::memory
