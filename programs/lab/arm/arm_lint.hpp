// Checks the order in which an Arm core's registers are written.
#pragma once

#include <set>
#include <vector>

#include "programs/lab/arm/arm_core.hpp"
#include "programs/lab/journal.hpp"

namespace tally::lab::arm {

/// Processes a run entry by entry.
class Linter {
 public:
  /// Returns remarks about this entry; `core` is in the state after it.
  std::vector<pmu::Remark> check(const Entry& entry, const Core& core);
  /// Returns remarks about the end of the run; `is_masked`: by PSTATE.
  std::vector<pmu::Remark> at_end(const Core& core, bool is_masked) const;

 private:
  void written_pmuv3(const Entry& entry, const Core& core, std::vector<pmu::Remark>& remarks);
  void written_apple(const Entry& entry, const Core& core, std::vector<pmu::Remark>& remarks);

  std::set<std::uint64_t> written_;  // registers that were written
  bool in_handler_ = false;
};

}  // namespace tally::lab::arm
