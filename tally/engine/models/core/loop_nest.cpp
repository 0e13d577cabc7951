#include "tally/engine/models/core/loop_nest.hpp"

#include "tally/engine/models/core/core_run.hpp"

namespace tally::models {

namespace {

// `before`: rounds until the buffer is as full as it gets.
std::int64_t ticks_of(const CoreTable& core, const LoopNest& nest, bool is_mispredicted, unsigned before = 2,
                      unsigned rounds = 5) {
  ReorderBuffer buffer;
  CoreRun run(core, {}, false, &buffer);
  std::int32_t begin = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    if (round == before) begin = run.end();
    for (std::uint32_t trip = 1; trip <= nest.trips; ++trip)
      for (const NestBlock& block : nest.loop.first(trip == nest.trips ? nest.last : nest.loop.size()))
        run.run_block(block.code, block.is_jumped_to);
    if (is_mispredicted) run.restart();
    for (const NestBlock& block : nest.outside) run.run_block(block.code, block.is_jumped_to);
  }
  return (run.end() - begin) / static_cast<std::int32_t>(rounds - before);
}

}  // namespace

NestTimes times_of(const CoreTable& core, const LoopNest& nest) {
  LoopNest endless = nest;
  endless.outside = {};
  endless.last = static_cast<std::uint32_t>(nest.loop.size());
  return {ticks_of(core, endless, false, 1, 2), ticks_of(core, nest, false), ticks_of(core, nest, true)};
}

}  // namespace tally::models
