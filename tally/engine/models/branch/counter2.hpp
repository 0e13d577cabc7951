// The two-bit saturating counter of most predictors.
#pragma once

#include <cstdint>

namespace tally::models {

/// 0 and 1 predict "not taken", 2 and 3 "taken". Each outcome moves it by one; it saturates at both ends.
using Counter2 = std::uint8_t;

constexpr bool predicts_taken(Counter2 counter) { return counter >= 2; }

constexpr Counter2 trained(Counter2 counter, bool taken) {
  if (taken) return counter < 3 ? static_cast<Counter2>(counter + 1) : counter;
  return counter > 0 ? static_cast<Counter2>(counter - 1) : counter;
}

}  // namespace tally::models
