#include "tally/event/sources.hpp"

#include <algorithm>

namespace tally::event {

const pfm::Pmu* own_pmu(const Sources& sources) {
  if (sources.own_pmu) return pfm::find_pmu(*sources.own_pmu);
  const auto& all = pfm::pmus();
  const auto found = std::find_if(all.begin(), all.end(), [](const pfm::Pmu& one) { return one.present; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tally::event
