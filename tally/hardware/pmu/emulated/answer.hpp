// What an access to a register comes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tally::pmu::emulated {

/// The answer to an access: a value, or the reason of the exception that it raises.
struct Answer {
  std::uint64_t value = 0;
  std::optional<std::string> fault = {};
  explicit operator bool() const { return !fault; }
};

}  // namespace tally::pmu::emulated
