// Text of sizes in findings.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "tally/core/base/text.hpp"

namespace tally::memory {

/// Formats a computed or measured size, as bytes_text() does.
inline std::string size_text(double bytes) { return bytes_text(static_cast<std::int64_t>(std::llround(bytes))); }
inline std::string size_text(std::uint64_t bytes) { return bytes_text(static_cast<std::int64_t>(bytes)); }

}  // namespace tally::memory
