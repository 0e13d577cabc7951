// Computes the cycles of windows. The cost of an instruction is known when its process ends, so rows wait on disk.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/windows/code_costs.hpp"
#include "tally/linux/files/spool.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::backend::engine {

/// The indexes in a row's counts that cycles need.
struct CyclePlaces {
  std::vector<std::pair<std::size_t, std::size_t>> statistics;  ///< indexes in ModelValues, and in the row's counts
  std::size_t cycles = 0;                                       ///< index that gets the cycles
};

/// The rows of a run that counts cycles.
class WindowCycles {
 public:
  /// `shared`, `modelling` and `blocks` must outlive it. `whole`: the windows contain everything that programs execute.
  WindowCycles(const Channel& shared, const Modelling& modelling, CodeBlocks& blocks, CyclePlaces places, bool whole);

  /// Keeps a row of a process (the index of its record), and what its window executed. For a vfork child it is the
  /// process whose code it shares.
  void keep(const result::Window& window, std::uint32_t process, std::span<const LoggedWords> executed);

  /// After the end of the run: emits all kept rows in order, with their cycles. If the windows contain the whole
  /// program, the cycles of a process's rows add up exactly to the model's total. Returns how many rows could not be
  /// read again.
  std::uint64_t emit_all(const std::function<void(const result::Window&)>& on_window);

 private:
  struct Progress {
    std::uint64_t rows_left = 0;
    double cycles = 0;           // of the core, in the rows so far
    std::uint64_t reported = 0;  // of these, in whole cycles
  };
  struct Row;

  bool read(Row& row);
  std::int64_t cycles_of(const Row& row);

  const Modelling& modelling_;
  const CyclePlaces places_;
  CodeCosts costs_;
  linux::Spool spool_;
  std::uint64_t rows_ = 0;
  std::unordered_map<std::uint32_t, Progress> processes_;
};

}  // namespace tally::backend::engine
