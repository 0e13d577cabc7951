#include "tally/report/format.hpp"

namespace tally::report {

std::span<const Format> formats() {
  static constexpr Format all[] = {{"table", table}, {"json", json}};
  return all;
}

}  // namespace tally::report
