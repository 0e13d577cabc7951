// Computes the cycles of windows from the cost of each instruction, which the core model reports at the end of a
// process.
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

/// The costs of what windows executed. Processes are given by the index of their records.
class CodeCosts {
 public:
  /// `blocks`: the traces; must outlive it. `whole`: the windows contain everything that programs execute.
  CodeCosts(const Channel& shared, CodeBlocks& blocks, bool whole) : shared_(shared), blocks_(blocks), whole_(whole) {}

  /// Adds what a process executed. All additions come before settle().
  void add(std::uint32_t process, std::span<const LoggedWords> executed);

  /// Computes the cost of each instruction. After the end of all processes.
  void settle();

  /// Returns the core's cycles for a part of what was added. After settle().
  double cycles_of(std::uint32_t process, std::span<const LoggedWords> executed) const;
  /// Returns the cycles of everything that was added for a process. After settle().
  std::uint64_t all_cycles(std::uint32_t process) const;
  /// Whether the model has not seen all that the process executed, because it was killed. After settle().
  bool is_partial(std::uint32_t process) const;

 private:
  struct Code {
    std::vector<std::uint64_t> counters;  // of segments, until settle()
    std::vector<double> costs;            // of one execution of each segment
  };
  struct Process {
    std::map<std::uint32_t, Code> code;                           // by log
    std::unordered_map<std::uint64_t, std::int64_t> corrections;  // executions by address, beyond those of segments
    std::unordered_map<std::uint64_t, double> costs;              // cycles of one execution, by address
    std::uint64_t cycles = 0, instructions = 0;                   // that the model has seen
    bool partial = false;
  };

  void read_costs();
  struct Executed {
    double cycles = 0, instructions = 0;
  };
  Executed cost_segments(Process& process) const;
  void scale_to_total(Process& process, const Executed& all) const;

  const Channel& shared_;
  CodeBlocks& blocks_;
  const bool whole_;
  std::unordered_map<std::uint32_t, Process> processes_;
};

/// Adds to `costs` the cost of one execution of each segment of a trace: the sum of `cost(pc)` over the instructions
/// that channel::walk counts for it.
template <class Cost>
void add_costs(const channel::CodeTrace& trace, const channel::CodePlace* places, double* costs, Cost&& cost) {
  std::uint32_t segment = 0;
  double all = 0;
  // If a trace counts all instructions at its entry, its other segments count exits, and subtract what follows them.
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
