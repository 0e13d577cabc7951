// Describes the machine that a measurement runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::linux {

/// Properties that a measurement depends on. Empty if the system does not report them.
struct HostMachine {
  std::string cpu;           ///< model name
  std::string architecture;  ///< "x86_64", "aarch64"
  std::string kernel;        ///< release
  std::string microcode;
  std::optional<bool> hypervisor;  ///< the processor reports that it is virtual; x86 only
  std::optional<std::int64_t> perf_event_paranoid;
  std::string governor;           ///< frequency governor of CPU 0
  std::vector<std::string> pmus;  ///< PMUs of the processor's cores that the kernel supports, by name
  bool operator==(const HostMachine&) const = default;
};

/// Reads files under `root` (tests use their own tree). Cost: six small files and a directory.
HostMachine read_host_machine(const std::string& root = "/");

/// Name of this machine in its network.
std::string host_name();

}  // namespace tally::linux
