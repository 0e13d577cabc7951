#include "tally/core/stats/projection.hpp"

#include "tally/core/stats/split_mix.hpp"

namespace tally::phase {

void project(std::uint64_t block, double share, std::span<double, projected_dimensions> to) {
  stats::SplitMix64 random(block);
  for (double& coordinate : to) coordinate += share * (2 * random.share() - 1);
}

}  // namespace tally::phase
