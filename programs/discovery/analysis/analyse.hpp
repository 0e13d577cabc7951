// Determines what events count from the cells of a record. Pure: the same record gives the same answer.
#pragma once

#include <vector>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/result/discovery_result.hpp"

namespace tally::discover {

/// The target of a payload without a declared composition: whether an event counts one per copy.
inline constexpr const char* users_payload = "copies of the payload";

/// The allowed differences from an expected number.
struct Limits {
  double share = 0.02;        ///< of the number
  double errors = 3;          ///< events per copy, for any number
  double least = 0.004;       ///< events for each copy, whatever the number
  double false_share = 0.01;  ///< of the claims that may be false (Benjamini and Hochberg's q)
  double running = 0.25;      ///< a run whose counters counted for a smaller share of the time is discarded
};

/// Checks that the fixed counter of instructions agrees with the known first payload; otherwise no result is valid.
/// Errors: cannot_measure with both numbers.
Result<void> preflight(const Record& record, const Limits& limits = {});

/// Returns the answer. `library`: payloads that were not used, one of which may distinguish aliases.
result::Discovery analyse(const Record& record, const std::vector<Facts>& library, const Limits& limits = {});

}  // namespace tally::discover
