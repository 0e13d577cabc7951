// Random projection: maps vectors of many thousand blocks to a few dimensions and nearly preserves their distances.
// SimPoint also projects to 15 dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::phase {

inline constexpr std::size_t projected_dimensions = 15;

/// Adds one block's contribution to a point: its share of the window, times the block's direction, which depends only
/// on the block's number.
void project(std::uint64_t block, double share, std::span<double, projected_dimensions> to);

}  // namespace tally::phase
