#include "tally/counting/backend/engine/windows/code_costs.hpp"

#include <algorithm>
#include <cmath>

#include "tally/counting/backend/engine/profile/read_code_log.hpp"
#include "tally/counting/backend/engine/sound.hpp"

namespace tally::backend::engine {

void CodeCosts::add(std::uint32_t number, std::span<const LoggedWords> executed) {
  Process& process = processes_[number];
  std::vector<std::uint64_t>* counters = nullptr;
  WordReader reader;
  for (const LoggedWords& logged_words : executed) {
    counters = &process.code[logged_words.log].counters;
    reader.read(
        logged_words.words,
        [&](std::uint32_t segment, std::uint32_t times) {
          if (segment >= channel::segment_limit) return;
          if (counters->size() <= segment) counters->resize(segment + segment / 2 + 1);
          (*counters)[segment] += times;
        },
        [&](std::uint64_t pc, std::int32_t times) { process.corrections[pc] += times; });
  }
}

void CodeCosts::settle() {
  read_costs();
  for (auto& [number, process] : processes_) scale_to_total(process, cost_segments(process));
}

// Reads the cost of each instruction, and totals of each process, which may exceed the list of instructions.
void CodeCosts::read_costs() {
  struct Sum {
    double cycles = 0, executions = 0;
  };
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint64_t, Sum>> sums;
  const std::uint32_t threads = claimed_threads(shared_);
  for (std::uint32_t i = 1; i <= threads; ++i) {
    const channel::Thread& thread = shared_.records.thread(i);
    const auto known = processes_.find(thread.process);
    if (known == processes_.end()) continue;
    channel::ModelCounts models{};
    if (linux::read_at(shared_.file.get(), channel::model_counts_offset(i), &models, sizeof models)) {
      for (const std::uint64_t cycles : models.core.cycles) known->second.cycles += cycles;
      known->second.instructions += models.core.instructions;
    }
    const std::uint32_t area = thread.statistics;
    channel::CodeCycles first{};
    if (area == 0 || area >= channel::area_limit ||
        !linux::read_at(shared_.file.get(), channel::area_offset(area), &first, sizeof first))
      continue;
    const std::uint64_t begin = channel::area_offset(area) + sizeof first;
    auto list =
        read_table<channel::CodeCycles>(shared_.file.get(), begin, begin + channel::code_cycles_limit * sizeof first);
    list.resize(std::min<std::uint64_t>(first.pc, list.size()));
    for (const channel::CodeCycles& code_cycles : list) {
      Sum& sum = sums[thread.process][code_cycles.pc];
      sum.cycles += static_cast<double>(code_cycles.cycles);
      sum.executions += static_cast<double>(code_cycles.executions);
    }
  }
  for (const auto& [number, of] : sums)
    for (const auto& [pc, sum] : of)
      if (sum.executions > 0) processes_[number].costs[pc] = sum.cycles / sum.executions;
}

// Computes the costs of segments; returns the sums over everything that was executed.
CodeCosts::Executed CodeCosts::cost_segments(Process& process) const {
  const auto cost = [&](std::uint64_t pc) {
    const auto known = process.costs.find(pc);
    return known != process.costs.end() ? known->second : 0;
  };
  Executed all;
  for (auto& [log, code] : process.code) {
    std::vector<double> instructions(code.counters.size());
    code.costs.resize(code.counters.size());
    for (std::uint32_t i = channel::first_segment; i < code.counters.size();) {
      const CodeBlocks::Trace* const trace = code.counters[i] != 0 ? blocks_.trace_of(log, i) : nullptr;
      if (trace == nullptr) {
        ++i;
        continue;
      }
      const channel::CodeTrace& head = trace->head();
      const std::size_t end = std::size_t{head.number} + head.segments;
      if (code.costs.size() < end) code.costs.resize(end);
      if (instructions.size() < end) instructions.resize(end);
      add_costs(head, trace->places(), &code.costs[head.number], cost);
      add_costs(head, trace->places(), &instructions[head.number], [](std::uint64_t) { return 1.0; });
      i = static_cast<std::uint32_t>(end);
    }
    for (std::size_t i = 0; i < code.counters.size(); ++i) {
      all.cycles += code.costs[i] * static_cast<double>(code.counters[i]);
      all.instructions += instructions[i] * static_cast<double>(code.counters[i]);
    }
    std::vector<std::uint64_t>().swap(code.counters);
  }
  for (const auto& [pc, times] : process.corrections) {
    all.cycles += cost(pc) * static_cast<double>(times);
    all.instructions += static_cast<double>(times);
  }
  return all;
}

// Scales costs to the total, which includes instructions without room in the list and those outside of segments.
void CodeCosts::scale_to_total(Process& process, const Executed& all) const {
  constexpr double nearly_all = 0.99;
  process.partial = static_cast<double>(process.instructions) < nearly_all * all.instructions;
  if (!whole_ || process.partial) {
    process.cycles = static_cast<std::uint64_t>(std::max(0.0, std::round(all.cycles)));
    return;
  }
  if (all.cycles <= 0) return;
  const double scale = static_cast<double>(process.cycles) / all.cycles;
  for (auto& [pc, cost] : process.costs) cost *= scale;
  for (auto& [log, code] : process.code)
    for (double& cost : code.costs) cost *= scale;
}

double CodeCosts::cycles_of(std::uint32_t number, std::span<const LoggedWords> executed) const {
  const auto known = processes_.find(number);
  if (known == processes_.end()) return 0;
  const Process& process = known->second;
  double cycles = 0;
  WordReader reader;
  for (const LoggedWords& logged_words : executed) {
    const auto code = process.code.find(logged_words.log);
    reader.read(
        logged_words.words,
        [&](std::uint32_t segment, std::uint32_t times) {
          if (code != process.code.end() && segment < code->second.costs.size())
            cycles += code->second.costs[segment] * times;
        },
        [&](std::uint64_t pc, std::int32_t times) {
          if (const auto cost = process.costs.find(pc); cost != process.costs.end()) cycles += cost->second * times;
        });
  }
  return cycles;
}

std::uint64_t CodeCosts::all_cycles(std::uint32_t number) const {
  const auto known = processes_.find(number);
  return known != processes_.end() ? known->second.cycles : 0;
}

bool CodeCosts::is_partial(std::uint32_t number) const {
  const auto known = processes_.find(number);
  return known == processes_.end() || known->second.partial;
}

}  // namespace tally::backend::engine
