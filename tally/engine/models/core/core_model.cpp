#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {

namespace {

constexpr Timing not_known = {};

// std::max() would add floating point, which the engine's build does not support.
constexpr std::int32_t larger(std::int32_t a, std::int32_t b) { return a > b ? a : b; }

bool is_vector(Register r) { return r >= first_x87 && r < first_mask; }

// One run of a code region. Times are relative to its start until finish().
class Run {
 public:
  Run(const CoreTable& core, const CoreState& state) : core_(core) {
    for (unsigned i = 0; i < registers; ++i) ready_[i] = state.ready[i];
    for (unsigned i = 0; i < units; ++i) free_[i] = state.free[i];
  }

  void step(const CoreInstruction& instruction, const Timing& timing) {
    if (core_.in_order) return step_in_order(instruction, timing);
    std::int32_t start = ready(instruction.sources);
    std::int32_t end = front_;
    if ((instruction.memory & CoreInstruction::loads) != 0) {
      start = larger(start, ready(instruction.address) + load_ticks(instruction));
      end = take(Unit::load, core_.load_busy);
    } else if (instruction.memory != 0) {
      start = larger(start, ready(instruction.address));
    }
    std::int32_t slots = timing.slots;
    if ((instruction.memory & CoreInstruction::stores) != 0) {
      end = larger(end, take(Unit::store, core_.store_busy));
      slots += store_is_one_more(timing);
    }
    if (timing.unit != Unit::none) end = larger(end, take(timing.unit, timing.busy));
    const std::int32_t done = start + timing.latency * ticks_per_cycle;
    front_ = larger(larger(front_ + slots * (ticks_per_cycle / core_.width), done), end);
    for (const Register result : instruction.results)
      if (result != no_register) ready_[result] = done;
  }

  // Ends the run: times become relative to its end. Only in-order results may come later than that, by less than 256
  // cycles of an instruction plus as many of a load.
  std::int32_t finish(CoreState& state) const {
    static_assert(sizeof(CoreTable::window) == 1 && UINT8_MAX * ticks_per_cycle <= INT16_MAX);
    const std::int32_t oldest = -core_.window * ticks_per_cycle;
    for (unsigned i = 0; i < registers; ++i)
      state.ready[i] = static_cast<std::int16_t>(larger(ready_[i] - front_, oldest));
    for (unsigned i = 0; i < units; ++i) state.free[i] = static_cast<std::int16_t>(larger(free_[i] - front_, oldest));
    return front_;
  }

 private:
  // Starts an instruction when earlier ones have started and its sources and units are ready. Its results come later,
  // and only instructions that read them wait.
  void step_in_order(const CoreInstruction& instruction, const Timing& timing) {
    const bool loads = (instruction.memory & CoreInstruction::loads) != 0;
    const bool stores = (instruction.memory & CoreInstruction::stores) != 0;
    std::int32_t start = larger(ready(instruction.sources), ready(instruction.address));
    if (loads) start = larger(start, free_[static_cast<unsigned>(Unit::load)]);
    if (stores) start = larger(start, free_[static_cast<unsigned>(Unit::store)]);
    start = larger(start, free_[static_cast<unsigned>(timing.unit)]);
    if (loads) free_[static_cast<unsigned>(Unit::load)] = start + core_.load_busy;
    if (stores) free_[static_cast<unsigned>(Unit::store)] = start + core_.store_busy;
    if (timing.unit != Unit::none) free_[static_cast<unsigned>(timing.unit)] = start + timing.busy;
    // A load into a register takes a load's time and no other.
    const bool only_loads = loads && (timing.operation == Operation::move ||
                                      timing.operation == Operation::vector_move || timing.operation == Operation::pop);
    const std::int32_t done =
        start + (loads ? load_ticks(instruction) : 0) + (only_loads ? 0 : timing.latency * ticks_per_cycle);
    front_ = start + (timing.slots + (stores && store_is_one_more(timing))) * (ticks_per_cycle / core_.width);
    for (const Register result : instruction.results)
      if (result != no_register) ready_[result] = done;
  }

  // A plain store is one operation with its data, any other instruction's store is one more.
  static bool store_is_one_more(const Timing& timing) {
    return timing.operation != Operation::move && timing.operation != Operation::vector_move &&
           timing.operation != Operation::push && timing.operation != Operation::call;
  }

  template <std::size_t n>
  std::int32_t ready(const Register (&sources)[n]) const {
    std::int32_t time = front_ - core_.window * ticks_per_cycle;
    for (const Register source : sources)
      if (source != no_register) time = larger(time, ready_[source]);
    return time;
  }

  std::int32_t load_ticks(const CoreInstruction& instruction) const {
    const bool vector = is_vector(instruction.results[0]);
    return (vector ? core_.vector_load_latency : core_.load_latency) * ticks_per_cycle;
  }

  // Occupies a unit, which works without a pause when there is enough to do and catches up on no more than the window.
  // Returns when it is free again; the instruction does not end before that.
  std::int32_t take(Unit unit, std::int32_t busy) {
    std::int32_t& free = free_[static_cast<unsigned>(unit)];
    free = larger(free, front_ - core_.window * ticks_per_cycle) + busy;
    return free;
  }

  const CoreTable& core_;
  std::int32_t ready_[registers];
  std::int32_t free_[units];
  std::int32_t front_ = 0;  ///< when the last instruction ended
};

}  // namespace

CoreCost run(const CoreTable& core, std::span<const CoreInstruction> instructions, CoreState& state) {
  CoreCost cost;
  Run batch(core, state);
  for (const CoreInstruction& instruction : instructions) {
    const Timing* const timing = core.timing(instruction.operation);
    cost.unknown += timing == nullptr;
    batch.step(instruction, timing != nullptr ? *timing : not_known);
  }
  cost.ticks = batch.finish(state);
  return cost;
}

}  // namespace tally::models
