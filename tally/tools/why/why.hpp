// `tally compare --why`: where the executions of two results part, and what made them differ.
#pragma once

#include <string>

#include "tally/output/result/stat_result.hpp"
#include "tally/tools/why/rerun.hpp"

namespace tally::why {

/// A stored result of `tally stat`.
struct StoredRun {
  std::string file;
  result::Stat stat;
};

/// Compares the stored paths, runs both commands again in the part in which they differ, and prints where they part and
/// why, as far as that can be found. `read` reads the arguments of the stored commands; `values`: see
/// Rerun::prepare(). Returns tally's exit code.
int explain_difference(const StoredRun& before, const StoredRun& after, StatReader read,
                       const std::vector<std::string>& values);

}  // namespace tally::why
