#include "programs/discover/score.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace tally::discover {
namespace {

constexpr int programmed_with_the_defect = 4;

const Planted* planted_at(const std::vector<Planted>& map, std::uint64_t code) {
  const auto one = std::find_if(map.begin(), map.end(), [code](const Planted& at) { return at.code == code; });
  return one == map.end() ? nullptr : &*one;
}

bool counts_one_thing(const Planted& one) { return one.terms.size() == 1 && one.terms[0].weight == 1; }

}  // namespace

Score score(const std::set<Claim>& claims, const std::vector<Planted>& map) {
  Score answer;
  for (const Claim& claim : claims) {
    const Planted* one = planted_at(map, claim.first);
    ++answer.claims;
    const bool right = one && counts_one_thing(*one) && one->terms[0].coordinate == claim.second;
    answer.wrong += !right;
  }
  for (const Planted& one : map) {
    if (!counts_one_thing(one)) continue;
    ++answer.planted;
    const bool found = claims.contains({one.code, one.terms[0].coordinate});
    answer.found += found;
    const auto any = claims.lower_bound({one.code, ""});
    answer.undecided += any == claims.end() || any->first != one.code;
  }
  return answer;
}

std::set<Claim> claims_of(const result::Discovery& answer) {
  std::set<Claim> claims;
  for (const result::DiscoveredEvent& event : answer.events) {
    if (event.kind != result::EventClass::counts || event.terms.size() != 1) continue;
    if (std::abs(event.terms[0].weight - 1) < 0.03) claims.insert({event.code, event.terms[0].coordinate});
  }
  return claims;
}

std::set<Claim> documents_claims(const Record& record, double deviation, bool pmesr0_twice) {
  // The largest count on any counter, by event and payload: one match is enough for the algorithm.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> counts;
  for (const Run& run : record.runs) {
    if (run.stage != Run::Stage::screen) continue;
    for (const Cell& cell : run.cells) {
      if (pmesr0_twice && cell.counter >= programmed_with_the_defect) continue;
      counts[{cell.event, run.payload}].push_back(cell.count);
    }
  }
  const auto copies = static_cast<double>(record.sizes.back());
  std::set<Claim> claims;
  for (std::size_t payload = 0; payload < record.payloads.size(); ++payload) {
    const Facts& with = record.payloads[payload];
    const auto control = std::find_if(record.payloads.begin(), record.payloads.end(),
                                      [&](const Facts& facts) { return facts.name == with.control; });
    if (control == record.payloads.end()) continue;
    const auto fake = static_cast<std::size_t>(control - record.payloads.begin());
    for (std::size_t event = 0; event < record.events.size(); ++event) {
      const auto& of = counts[{event, payload}];
      const bool near = std::any_of(of.begin(), of.end(), [&](std::int64_t count) {
        return std::abs(static_cast<double>(count) - copies) <= deviation * copies;
      });
      const auto& without = counts[{event, fake}];
      const bool silent = std::all_of(without.begin(), without.end(), [&](std::int64_t count) {
        return static_cast<double>(count) < deviation * copies;
      });
      if (near && silent) claims.insert({record.events[event], with.target});
    }
  }
  return claims;
}

}  // namespace tally::discover
