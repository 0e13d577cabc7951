// What kind of machine this is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::linux {

/// What a measurement depends on. Empty where the system does not say.
struct Machine {
  std::string cpu;           ///< model name
  std::string architecture;  ///< "x86_64", "aarch64"
  std::string kernel;        ///< release
  std::string microcode;
  std::optional<bool> hypervisor;  ///< the processor says that it is a virtual one; x86 only
  std::optional<std::int64_t> perf_event_paranoid;
  std::string governor;           ///< of the first processor's frequency
  std::vector<std::string> pmus;  ///< the processor's own counter units that the kernel offers, by name
  bool operator==(const Machine&) const = default;
};

/// Looks at the files under `root` (tests give a tree of their own). Cost: six small files and a folder read.
Machine read_host_machine(const std::string& root = "/");

}  // namespace tally::linux
