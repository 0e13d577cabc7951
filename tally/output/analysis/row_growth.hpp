// By how much a row of a comparison grew: the verdict on the row and the gates that limit it both follow from this.
#pragma once

#include <string>

#include "tally/output/analysis/growth.hpp"
#include "tally/output/kinds/comparison_result.hpp"

namespace tally::output {

struct RowGrowth {
  GrowthOrReason growth;
  bool is_by_interval = false;  ///< by ComparedCount::interval, not by runs
  bool has_bounds = false;      ///< every run has the same error
  RepeatedValue before = {}, after = {};
};

/// Growth of a row that both sides have. `is_relative`: relative to before.
RowGrowth growth_of(const ComparedCount& row, const Comparison& comparison, bool is_relative);

/// Whether a row is of modelled cycles or of a cause of them: the model's error may hide what instructions show.
bool is_modelled_cycles(const ComparedCount& row);

/// Why a count lacks work of processes that still run, or of threads and processes outside a timed loop; else empty.
std::string missing_work(const Measure& measure);

/// Settings that differ and decide the count: "--cpu-model differs: …"; empty if there are none, or they do not matter.
std::string different_settings(const Comparison& comparison, Trust trust);

/// Why a change of a ratio is neither better nor worse: what it costs did not change in the same direction ("cycles:u
/// decides, and is worse"). IPC also rises if a program executes more instructions and takes longer. Of modelled
/// cycles: why the change may be an error of the model. Empty otherwise.
std::string reason_by_cost(const ComparedCount& row, const Comparison& comparison);

/// Sets the verdict on a change that is more than chance.
void decide(ComparedCount& row);
void leave_undecided(ComparedCount& row, std::string reason);
/// Sets the verdict if growth_of() has a growth, or leaves the row undecided with its reason.
void decide_by_growth(ComparedCount& row, const Comparison& comparison);

}  // namespace tally::output
