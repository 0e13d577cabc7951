// The number of a thread in OpenMP.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::linux {

/// Returns the calling thread's number in its innermost team; nothing if the program has no OpenMP runtime, or the
/// thread is neither in a team nor the program's first.
std::optional<std::int32_t> openmp_number();

}  // namespace tally::linux
