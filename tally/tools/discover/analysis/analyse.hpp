// From cells to what events count. Pure: the same record gives the same answer.
#pragma once

#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/discover.hpp"
#include "tally/tools/discover/analysis/record.hpp"

namespace tally::discover {

/// The target of a payload whose composition nobody declared: it is asked whether an event counts one for each copy.
inline constexpr const char* users_payload = "copies of the payload";

/// What a difference from an expected number is allowed.
struct Limits {
  double share = 0.02;        ///< of the number
  double errors = 3;          ///< standard errors
  double least = 0.004;       ///< events for each copy, whatever the number
  double false_share = 0.01;  ///< of the claims that may be false (Benjamini and Hochberg's q)
  double running = 0.25;      ///< a run whose counters counted less of the time is discarded
};

/// Whether the fixed counter of instructions says what the first payload is known to do: nothing is believed where it
/// does not. Errors: cannot_measure with both numbers.
Result<void> preflight(const Record& record, const Limits& limits = {});

/// The answer. `library`: payloads that were not used; one of them may tell aliases apart.
result::Discovery analyse(const Record& record, const std::vector<Facts>& library, const Limits& limits = {});

}  // namespace tally::discover
