// The result of a register access.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tally::pmu::emulated {

/// The value read, or the reason for the exception that the access raises.
struct Answer {
  std::uint64_t value = 0;
  std::optional<std::string> fault = {};
  explicit operator bool() const { return !fault; }
};

}  // namespace tally::pmu::emulated
