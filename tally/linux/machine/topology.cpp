#include "tally/linux/machine/topology.hpp"

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::linux {

std::optional<CpuPosition> cpu_position(int processor, const std::string& root) {
  const std::filesystem::path folder =
      std::filesystem::path(root) / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) / "topology";
  const auto socket = parse_integer(content(folder / "physical_package_id"));
  const auto core = parse_integer(content(folder / "core_id"));
  if (!socket || !core) return std::nullopt;
  // −1 means that the machine does not distinguish sockets: it has one.
  return CpuPosition{*socket < 0 ? 0 : static_cast<int>(*socket), static_cast<int>(*core)};
}

}  // namespace tally::linux
