// Distributes a number proportionally, without a remainder.
#pragma once

#include <cstdint>

namespace tally::output {

/// Returns `what` * `some` / `all`, and subtracts it from `what`, and `some` from `all`. Calls for all parts of `all`
/// distribute `what` completely.
inline std::int64_t take_share(std::int64_t& what, std::int64_t& all, std::int64_t some) {
  if (all <= 0 || some <= 0) return 0;
  const auto part =
      some >= all
          ? what
          : static_cast<std::int64_t>(static_cast<double>(what) * static_cast<double>(some) / static_cast<double>(all));
  what -= part;
  all -= some;
  return part;
}

}  // namespace tally::output
