// Which processors are threads of one core, and which cores lie in one socket.
#pragma once

#include <optional>
#include <string>

namespace tally::linux {

/// Where a processor, as the kernel numbers them, lies.
struct Place {
  int socket = 0;  ///< physical_package_id
  int core = 0;    ///< core_id: unique within the socket alone
  auto operator<=>(const Place&) const = default;
};

/// Where this processor lies; nothing where the kernel does not say. `root` is where sys/ lies. Cost: two small files.
std::optional<Place> place_of(int processor, const std::string& root = "/");

}  // namespace tally::linux
