// The counter units that the kernel offers, as sysfs describes them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::linux {

/// One folder of /sys/bus/event_source/devices.
struct PmuDevice {
  std::string name;
  std::optional<std::uint32_t> type;          ///< perf_event_attr.type
  std::map<std::string, std::string> format;  ///< a field → its bits: "umask" → "config:8-15"
  std::map<std::string, std::string> events;  ///< a name → its terms: "branch-misses" → "event=0xc5"
  std::string cpus;                           ///< the processors it counts on, where it is not all: "0-7"
  bool is_core = false;                       ///< counts what processors execute, not what happens around them
  std::optional<int> rotation_ms = {};        ///< how long events that share counters run before others have their turn
  bool operator==(const PmuDevice&) const = default;
};

/// True for the kernel's names of core PMUs: cpu, cpu_core, cpu_atom, armv8_…, apple_….
bool is_core_pmu(std::string_view name);
/// The same of a PMU of this machine, whatever its name: hybrid processors have several. One file is read at most.
bool is_core_pmu(const std::string& root, const std::string& name);

/// The names of all units, in order. `root` is where sys/ lies; empty where there is no such folder.
std::vector<std::string> pmu_names(const std::string& root = "/");

/// One unit; nothing where the kernel has none of this name, or where the name is no file name. Cost: some small files.
std::optional<PmuDevice> pmu_device(const std::string& root, const std::string& name);

/// Whether the kernel has this tracepoint; false, too, where its folder cannot be read.
bool has_tracepoint(const std::string& root, const std::string& group, const std::string& name);

}  // namespace tally::linux
