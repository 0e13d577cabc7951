// Finds out which CPUs share a core and which cores share a socket.
#pragma once

#include <optional>
#include <string>

namespace tally::linux {

/// Position of a CPU, which the kernel's number identifies.
struct CpuPosition {
  int socket = 0;  ///< physical_package_id
  int core = 0;    ///< core_id: unique within the socket only
  auto operator<=>(const CpuPosition&) const = default;
};

/// Returns the position of a CPU; nothing if the kernel does not report it. `root`: the directory that contains sys/.
/// Cost: two small files.
std::optional<CpuPosition> cpu_position(int processor, const std::string& root = "/");

}  // namespace tally::linux
