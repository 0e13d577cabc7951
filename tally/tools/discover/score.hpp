// How right answers are, where the truth is known; and the algorithm of the M1 framework's document, for comparison.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tally/tools/discover/analysis/record.hpp"
#include "tally/tools/discover/planted.hpp"

namespace tally::discover {

/// "This event counts that."
using Claim = std::pair<std::uint64_t, std::string>;

/// What was claimed of the events that count one thing once, and how much of it is so.
struct Score {
  int planted = 0;  ///< events that count one thing, once each
  int found = 0;    ///< of those: claimed by that name, first of all
  int claims = 0, wrong = 0;
  int undecided = 0;  ///< planted, alive, and not named
  double recall() const { return planted ? static_cast<double>(found) / planted : 0; }
  double false_share() const { return claims ? static_cast<double>(wrong) / claims : 0; }
};
Score score(const std::set<Claim>& claims, const std::vector<Planted>& map);

/// The claims of an answer: one name, at a rate of 1.
std::set<Claim> claims_of(const result::Discovery& answer);

/// The document's algorithm on the same payloads: an event whose count is within `deviation` of the number of copies on
/// any counter, and below `deviation` for the control, is what the payload tries. One size, one repeat.
/// `pmesr0_twice`: its defect, by which only the first four counters are ever programmed.
std::set<Claim> documents_claims(const Record& record, double deviation, bool pmesr0_twice);

}  // namespace tally::discover
