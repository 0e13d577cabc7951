#include "tally/engine/models/core/repeated_loop.hpp"

namespace tally::models {

// The waits in which code after a loop may run.
static constexpr Cause overlapping_waits[] = {Cause::core, Cause::l1};

CoreTimes without_overlap(CoreTimes times, std::uint32_t share) {
  constexpr std::uint64_t all = CoreMark::all_overlaps;
  for (const Cause cause : overlapping_waits) {
    const std::uint64_t waits = times.of(cause);
    times.of(cause) -= waits / all * share + waits % all * share / all;
  }
  return times;
}

bool find_repeated(std::span<const CoreBlock> blocks, std::span<const CoreEdge> edges, std::span<const CoreMark> marks,
                   std::uint32_t number, RepeatedLoop& loop) {
  std::uint32_t cycle[RepeatedLoop::limit], size = 0;  // backwards
  for (std::uint32_t i = number;; i = marks[i].usual - 1) {
    if (size == RepeatedLoop::limit || i < number || !marks[i].is_in_loop) return false;
    cycle[size++] = i;
    if (marks[i].usual == number + 1) break;
  }
  const auto index = [&](std::uint32_t block) {
    std::uint32_t i = 0;
    while (i < size && cycle[i] != block) ++i;
    return i;
  };
  // An arm is entered from the loop and leads back to it, in more than a third of its rounds: code outside is rarer.
  const auto is_arm = [&](std::uint32_t block) {
    const std::uint32_t usual = marks[block].usual, follower = marks[block].follower;
    if (usual == 0 || follower == 0 || index(usual - 1) == size) return false;
    const std::uint32_t back = edges[follower - 1].to;
    return index(back) < size && 3 * blocks[block].executions > blocks[back].executions;
  };
  std::uint32_t first = 0, exit = 0, next = 0;
  std::uint64_t most_in = 0, most_out = 0, all_out = 0;
  for (const CoreEdge& edge : edges) {
    const std::uint32_t from = index(edge.from), to = index(edge.to);
    if (from == size && to < size && is_arm(edge.from)) {
      const bool is_new = loop.arm_count == 0 || loop.arms[loop.arm_count - 1] != edge.from;
      if (is_new && loop.arm_count < RepeatedLoop::limit) loop.arms[loop.arm_count++] = edge.from;
    } else if (from == size && to < size) {
      loop.entries += edge.count;
      if (edge.count > most_in) most_in = edge.count, first = to;
    } else if (from < size && to == size && edge.count > most_out && !is_arm(edge.to)) {
      most_out = edge.count, exit = from, next = edge.to;
    }
  }
  for (const CoreEdge& edge : edges)
    if (edge.to == next && (index(edge.from) < size || is_arm(edge.from))) all_out += edge.count;
  if (most_in == 0 || most_out == 0 || most_in < loop.entries / 4 * 3 || all_out < loop.entries / 4 * 3) return false;
  loop.trips = (blocks[cycle[first]].executions + loop.entries / 2) / loop.entries;
  for (loop.loop_size = 0; loop.loop_size < size; ++loop.loop_size)
    loop.loop[loop.loop_size] = cycle[(first + size - loop.loop_size) % size];
  loop.last = (first + size - exit) % size + 1;
  for (; loop.outside_size < RepeatedLoop::limit; next = edges[marks[next].follower - 1].to) {
    if (next == cycle[first]) return loop.outside_size != 0 && loop.trips > 1;
    if (marks[next].is_in_loop || marks[next].follower == 0) return false;
    loop.outside[loop.outside_size++] = next;
  }
  return false;
}

std::uint32_t overlapped(const CoreTable& core, const RepeatedLoop& loop, std::uint64_t trips, const NestTimes& times,
                         std::uint64_t outside, std::span<const CoreSpent> spent, std::span<CoreRestart> restarts) {
  static constexpr std::uint64_t whole = 256;
  std::uint64_t trip = 0, last = 0, waited = 0;
  for (std::uint32_t n = 0; n < loop.loop_size; ++n) {
    const CoreTimes& cycles = spent[loop.loop[n]].cycles;
    trip += cycles.sum();
    last += n < loop.last ? cycles.sum() : 0;
    for (const Cause cause : overlapping_waits) waited += cycles.of(cause) * loop.trips;
  }
  const std::uint64_t endless = static_cast<std::uint64_t>(times.endless) * parts_of_tick / trips;
  // The first block is in `outside`.
  const std::uint64_t round =
      outside + last - spent[loop.loop[0]].cycles.sum() + (trip < endless ? trip : endless) * (trips - 1);
  CoreRestart* restart = nullptr;
  for (CoreRestart& each : restarts)
    if (each.from == loop.loop[loop.last - 1] && each.to == loop.outside[0] && each.count != 0) restart = &each;
  std::uint64_t restarted = 0, missed = 0;
  if (restart != nullptr) {
    missed = restart->count < loop.entries ? restart->count : loop.entries;
    restarted = restart->ticks / restart->count + core.mispredict * std::uint64_t{ticks_per_cycle * parts_of_tick};
  }
  const auto saved = [](std::uint64_t usual, std::int64_t nest) {
    const std::uint64_t ticks = static_cast<std::uint64_t>(nest) * parts_of_tick;
    return usual > ticks ? usual - ticks : 0;
  };
  const std::uint64_t share = missed * whole / loop.entries;
  const std::uint64_t gain =
      (saved(round, times.predicted) * (whole - share) + saved(round + restarted, times.mispredicted) * share) / whole;
  if (gain == 0) return 0;
  if (gain < waited) return static_cast<std::uint32_t>(gain * CoreMark::all_overlaps / waited);
  const std::uint64_t more = (gain - waited) * missed;
  if (restart != nullptr) restart->ticks -= more < restart->ticks ? more : restart->ticks;
  return CoreMark::all_overlaps;
}

}  // namespace tally::models
