#include "tally/core/count/region_reasons.hpp"

#include <fmt/format.h>

namespace tally {

std::string too_small_reason(const RegionEvent& event) {
  return fmt::format("too small to trust: overhead is {:.3g} % of the count", event.overhead_percent);
}

Count usable_total(const RegionEvent& event) {
  if (!event.too_small) return event.total;
  return downgraded(event.total, Trust::partial, event.event.text() + " is " + too_small_reason(event));
}

}  // namespace tally
