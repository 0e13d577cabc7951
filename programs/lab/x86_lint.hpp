// Checks the order in which registers are written, for mistakes that no single value shows.
#pragma once

#include <vector>

#include "programs/lab/journal.hpp"
#include "programs/lab/pmu/intel_pmu.hpp"

namespace tally::lab {

/// Processes a run entry by entry.
class Linter {
 public:
  /// Returns remarks about this entry in addition to those about its value, and removes those about its value that do
  /// not apply in this run. `pmu` is in the state after the entry.
  std::vector<pmu::Remark> check(Entry& entry, const pmu::emulated::IntelPmu& pmu);

  /// Returns remarks about the end of the run.
  std::vector<pmu::Remark> at_end(const pmu::emulated::IntelPmu& pmu, bool interrupts_enabled) const;

 private:
  bool stops_a_counter(const Entry& entry) const;
  void written(const Entry& entry, const pmu::emulated::IntelPmu& pmu, std::vector<pmu::Remark>& remarks);
  void returned(const pmu::emulated::IntelPmu& pmu, std::vector<pmu::Remark>& remarks);

  std::uint64_t selects_[8] = {};
  bool in_handler_ = false;    // of the counters
  bool warned_ = false;        // of overflow bits that stay set
  std::uint64_t entered_ = 0;  // the status when the handler of the counters was called
  int nested_ = 0;             // handlers that interrupted the handler of the counters
  int lost_ = 0;
};

}  // namespace tally::lab
