#include "tally/core/stats/projection.hpp"

namespace tally::phase {

void project(std::uint64_t block, double share, std::span<double, projected_dimensions> to) {
  std::uint64_t state = block;
  for (double& coordinate : to) {
    // SplitMix64 (Steele, Lea, Flood 2014).
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    mixed ^= mixed >> 31;
    coordinate += share * (static_cast<double>(mixed >> 11) * 0x1p-52 - 1);
  }
}

}  // namespace tally::phase
