// Scores answers against a known truth, and implements the algorithm of the M1 framework's document for comparison.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "programs/discover/planted.hpp"
#include "programs/discovery/analysis/measurement_cells.hpp"

namespace tally::discover {

/// "This event counts that."
using Claim = std::pair<std::uint64_t, std::string>;

/// The claims about the events that count one thing once, and how many of them are right.
struct Score {
  int planted = 0;  ///< events that count one thing, once each
  int found = 0;    ///< of those: claimed by that name, in the first place
  int claims = 0, wrong = 0;
  int undecided = 0;  ///< planted, alive, and not named
  double recall() const { return planted ? static_cast<double>(found) / planted : 0; }
  double false_share() const { return claims ? static_cast<double>(wrong) / claims : 0; }
};
Score score(const std::set<Claim>& claims, const std::vector<Planted>& map);

/// Returns the claims of an answer: one name, at a rate of 1.
std::set<Claim> claims_of(const result::Discovery& answer);

/// Runs the document's algorithm on the same payloads: an event matches if its count is within `deviation` of the
/// number of copies on any counter, and below `deviation` for the control. One size, one repeat. `pmesr0_twice`:
/// simulates its bug, which programs the first four counters only.
std::set<Claim> documents_claims(const Record& record, double deviation, bool pmesr0_twice);

}  // namespace tally::discover
