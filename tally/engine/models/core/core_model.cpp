#include "tally/engine/models/core/core_model.hpp"

#include "tally/engine/models/core/core_run.hpp"

namespace tally::models {

CoreCost run(const CoreTable& core, std::span<const CoreInstruction> instructions, CoreState& state,
             std::span<CoreTimes> each, bool is_queued) {
  CoreCost cost;
  CoreRun batch(core, state, is_queued);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Timing* const timing = timing_of(core, instructions[i]);
    cost.unknown += timing == nullptr;
    const CoreTimes before = each.empty() ? CoreTimes{} : batch.spent();
    const CoreInstruction* const next = i + 1 < instructions.size() ? &instructions[i + 1] : nullptr;
    batch.step(instructions[i], timing != nullptr ? *timing : Timing{}, next);
    if (i >= each.size()) continue;
    each[i] = batch.spent();
    for (unsigned cause = 0; cause < core_causes; ++cause) each[i].by[cause] -= before.by[cause];
  }
  cost.causes = batch.spent();
  cost.aliases = batch.aliases();
  cost.ticks = batch.finish(state);
  return cost;
}

}  // namespace tally::models
