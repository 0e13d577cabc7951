// Checks that a requested measurement fits into the memory of this machine.
#pragma once

#include <cstdint>
#include <string>

#include "tally/core/base/result.hpp"

namespace tally::memory {

/// The most memory that stays mapped after it was walked, if `available_bytes` are available: enough huge pages to give
/// successive mappings of a size different ones, but little compared to the largest rings.
std::uint64_t most_aside_bytes(std::uint64_t available_bytes);

/// Checks that a region of this size, the order of its lines and the retained mappings fit into the available memory.
/// Errors: bad_usage; `option` is the option that sets a smaller size.
Result<void> fits(std::uint64_t region_bytes, const std::string& option);

}  // namespace tally::memory
