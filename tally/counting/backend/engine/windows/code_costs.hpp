// What instructions cost, by the cycles that the core model gives them at the end of a process: so a window's cycles
// are those of what it executed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "tally/counting/backend/engine/windows/code_vectors.hpp"

namespace tally::backend::engine {

/// What one process executed while a log described its code: words of WindowRows.
struct LoggedWords {
  std::uint32_t log = 0;
  std::vector<std::uint64_t> words;
};

/// Costs of what windows executed. Processes by the numbers of their records.
class CodeCosts {
 public:
  /// `blocks` knows the traces; it must live as long. `whole`: windows are all that programs execute.
  CodeCosts(const Channel& shared, CodeBlocks& blocks, bool whole) : shared_(shared), blocks_(blocks), whole_(whole) {}

  /// A process executed this: everything is added before settle().
  void add(std::uint32_t process, std::span<const LoggedWords> executed);

  /// After the end of all processes: each instruction has a cost.
  void settle();

  /// Cycles of the core of a part of what was added. After settle().
  double cycles_of(std::uint32_t process, std::span<const LoggedWords> executed) const;
  /// Of everything that was added of a process. After settle().
  std::uint64_t all_cycles(std::uint32_t process) const;
  /// Whether the model has not seen all that the process executed: it was killed. After settle().
  bool is_partial(std::uint32_t process) const;

 private:
  struct Code {
    std::vector<std::uint64_t> counters;  // of segments, until they are settled
    std::vector<double> costs;            // of an execution of each
  };
  struct Process {
    std::map<std::uint32_t, Code> code;                           // by log
    std::unordered_map<std::uint64_t, std::int64_t> corrections;  // executions by address, beside those of segments
    std::unordered_map<std::uint64_t, double> costs;              // cycles of an execution, by address
    std::uint64_t cycles = 0, instructions = 0;                   // that the model has seen
    bool partial = false;
  };

  void read_costs();
  struct Executed {
    double cycles = 0, instructions = 0;
  };
  Executed cost_segments(Process& process) const;
  void make_whole(Process& process, const Executed& all) const;

  const Channel& shared_;
  CodeBlocks& blocks_;
  const bool whole_;
  std::unordered_map<std::uint32_t, Process> processes_;
};

/// Adds for each segment of a trace what one execution of it costs: `cost(pc)` of every instruction that it counts, as
/// channel::walk does.
template <class Cost>
void add_costs(const channel::CodeTrace& trace, const channel::CodePlace* places, double* costs, Cost&& cost) {
  std::uint32_t segment = 0;
  double all = 0;
  // In a trace that counts its whole way at its entry the others say who left it: what comes after was not executed.
  for (std::uint32_t i = 0; i < trace.places; ++i) {
    const channel::CodePlace& p = places[i];
    const double one =
        (p.flags & channel::place_is_end) ? 0 : cost(trace.pc + static_cast<std::uint64_t>(std::int64_t{p.pc}));
    all += one;
    if (trace.counts_exits == 0) {
      if (segment < trace.segments) costs[segment] += one;
    } else {
      for (std::uint32_t left = 1; left <= segment && left < trace.segments; ++left) costs[left] -= one;
    }
    if (p.flags & channel::place_branches) ++segment;
  }
  if (trace.counts_exits == 0) return;
  costs[0] += all;
  for (std::uint32_t i = 1; i < trace.segments; ++i)
    if (trace.early >> (i & 63) & 1) costs[i] += all;
}

}  // namespace tally::backend::engine
