#include "tally/counting/backend/engine/profile/instruction_counts.hpp"

#include <map>
#include <utility>

namespace tally::backend::engine {
namespace {

using Site = std::pair<std::uint32_t, std::uint64_t>;      // file and address
using Executions = std::map<std::uint32_t, std::int64_t>;  // by thread
constexpr std::uint32_t limit = channel::ValueRow::values;

}  // namespace

void divide_cycles(std::vector<std::vector<InstructionCount>>& counted, std::span<const std::uint32_t> threads,
                   std::vector<channel::ValueRow>& values, const channel::LocatedValues& selected) {
  const auto is_cycles = [&](const channel::ValueRow& row, std::uint32_t value) {
    const std::uint64_t i = row.group * limit + value;
    return i < selected.count && selected.figure[i] >= channel::placed_cycles;
  };
  const auto has_cycles = [&](const InstructionCount& count) {
    if (count.source != InstructionCount::by_models) return false;
    const channel::ValueRow& row = values[static_cast<std::size_t>(count.executions)];
    for (std::uint32_t i = 0; i < limit; ++i)
      if (is_cycles(row, i) && row.value[i] != 0) return true;
    return false;
  };
  std::map<Site, Executions> executions;
  for (const std::uint32_t thread : threads)
    for (const InstructionCount& count : counted[thread])
      if (has_cycles(count)) executions[{count.file, count.address}];
  if (executions.empty()) return;
  for (const std::uint32_t thread : threads)
    for (const InstructionCount& count : counted[thread]) {
      if (count.source != InstructionCount::by_executions) continue;
      const auto site = executions.find({count.file, count.address});
      if (site != executions.end()) site->second[thread] += count.executions;
    }
  std::vector<std::pair<std::uint32_t, InstructionCount>> added;
  for (const std::uint32_t thread : threads)
    for (const InstructionCount& count : counted[thread]) {
      if (!has_cycles(count)) continue;
      const Executions& by_thread = executions[{count.file, count.address}];
      double rest = 0;
      for (const auto& [other, times] : by_thread) rest += static_cast<double>(times);
      const auto from = static_cast<std::size_t>(count.executions);
      for (const auto& [other, times] : by_thread) {
        if (other == thread || times <= 0) continue;
        channel::ValueRow share{.site = values[from].site, .group = values[from].group, .value = {}};
        // What is left is divided among those that are left, so that the sum stays.
        for (std::uint32_t i = 0; i < limit; ++i) {
          if (!is_cycles(share, i)) continue;
          share.value[i] = static_cast<std::uint64_t>(static_cast<double>(values[from].value[i]) *
                                                      (static_cast<double>(times) / rest));
          values[from].value[i] -= share.value[i];
        }
        rest -= static_cast<double>(times);
        InstructionCount moved = count;
        moved.executions = static_cast<std::int64_t>(values.size());
        values.push_back(share);
        added.emplace_back(other, moved);
      }
    }
  for (const auto& [thread, count] : added) counted[thread].push_back(count);
}

}  // namespace tally::backend::engine
