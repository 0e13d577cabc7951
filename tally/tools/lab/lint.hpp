// What is noticed about the order in which registers are written: mistakes that no single value shows.
#pragma once

#include <vector>

#include "tally/hardware/pmu/emulated/intel_pmu.hpp"
#include "tally/tools/lab/journal.hpp"

namespace tally::lab {

/// Looks at the run as it goes by.
class Linter {
 public:
  /// What there is to say about this entry, beside what its value alone says; what does not fit the run is taken from
  /// those. `pmu` is as it is behind the entry.
  std::vector<pmu::Remark> look(Entry& entry, const pmu::emulated::IntelPmu& pmu);

  /// What is left to say when all is over.
  std::vector<pmu::Remark> at_end(const pmu::emulated::IntelPmu& pmu, bool interrupts_enabled) const;

 private:
  bool stops_a_counter(const Entry& entry) const;
  void written(const Entry& entry, const pmu::emulated::IntelPmu& pmu, std::vector<pmu::Remark>& remarks);
  void returned(const pmu::emulated::IntelPmu& pmu, std::vector<pmu::Remark>& remarks);

  std::uint64_t selects_[8] = {};
  bool in_handler_ = false;
  int served_ = 0;
  int lost_ = 0;
};

}  // namespace tally::lab
