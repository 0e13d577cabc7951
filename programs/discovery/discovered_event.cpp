#include "programs/discovery/discovered_event.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

std::string term_text(const result::Term& term) {
  if (std::abs(term.weight - 1) < 0.03) return term.coordinate;
  const double nearest = std::round(term.weight);
  const bool is_whole = nearest >= 1 && std::abs(term.weight - nearest) < 0.03 * nearest;
  return (is_whole ? fmt::format("{:.0f}", nearest) : fmt::format("{:.3g}", term.weight)) + " × " + term.coordinate;
}

}  // namespace

std::string raw_code(std::uint64_t code) { return fmt::format("r{:x}", code); }

std::string what_it_counts(const result::DiscoveredEvent& event) {
  if (event.terms.empty()) return std::string(name(event.kind));
  std::vector<std::string> terms;
  for (const auto& term : event.terms) terms.push_back(term_text(term));
  return join(terms, " + ");
}

}  // namespace tally::output
