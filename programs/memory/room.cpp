#include "programs/memory/room.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {

std::uint64_t most_aside_bytes(std::uint64_t available_bytes) {
  return std::min<std::uint64_t>(128 << 20, available_bytes / 16);
}

Result<void> fits(std::uint64_t region_bytes, const std::string& option) {
  const auto size = [](std::uint64_t bytes) { return bytes_text(static_cast<std::int64_t>(bytes)); };
  // The chain's order and its check need 9 bytes per line.
  const std::uint64_t of_region = region_bytes + region_bytes / 64 * 9;
  const auto available = linux::available_bytes();
  if (!available) return {};
  const std::uint64_t needed = of_region + most_aside_bytes(*available);
  if (needed <= *available) return {};
  return fail(Code::bad_usage,
              fmt::format("a region of {} needs {}, but only {} of memory are available", size(region_bytes),
                          size(needed), size(*available)),
              option + " sets a smaller one; without it tally chooses a size that fits");
}

}  // namespace tally::memory
