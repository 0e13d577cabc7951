// Vectors of many thousand blocks as points of a few dimensions, which are as far from one another as the vectors are,
// nearly (random projection; SimPoint does the same, to 15 dimensions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::phase {

inline constexpr std::size_t projected_dimensions = 15;

/// Adds the part of one block to a point: its share of the window, in the directions that the block has, which depend
/// on its number alone.
void project(std::uint64_t block, double share, std::span<double, projected_dimensions> to);

}  // namespace tally::phase
