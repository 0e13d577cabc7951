// Cycles of windows. What an instruction costs is known at the end of its process, so rows wait for it, on disk.
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
#include "tally/output/result/windows.hpp"

namespace tally::backend::engine {

/// Where a row's counts have what cycles are made of.
struct CyclePlaces {
  std::vector<std::pair<std::size_t, std::size_t>> statistics;  ///< numbers of ModelValues, and their places
  std::size_t cycles = 0;                                       ///< the place that gets the cycles
};

/// The rows of a run that asks for cycles.
class WindowCycles {
 public:
  /// `shared`, `modelling` and `blocks` must live as long. `whole`: windows are all that programs execute.
  WindowCycles(const Channel& shared, const Modelling& modelling, CodeBlocks& blocks, CyclePlaces places, bool whole);

  /// A row of a process (the number of its record) and what its window executed: a vfork child's is that of the process
  /// whose code it shares.
  void keep(const result::Window& window, std::uint32_t process, std::span<const LoggedWords> executed);

  /// After the end of the run: every row that was kept, in their order, with its cycles. Where windows are the whole
  /// program, those of a process's rows are together what the model says of the process, to the last one. Returns how
  /// many could not be read again.
  std::uint64_t hand_on(const std::function<void(const result::Window&)>& on_window);

 private:
  struct Progress {
    std::uint64_t rows_left = 0;
    double cycles = 0;       // of the core, of the rows so far
    std::uint64_t told = 0;  // of them, in whole cycles
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
