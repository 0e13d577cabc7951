// Lists the PMUs that the kernel supports, from sysfs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::linux {

/// What one of an event's counts is: 2.3e-10 "Joules".
struct PmuScale {
  double factor = 1;
  std::string unit;
  bool operator==(const PmuScale&) const = default;
};

/// One directory of /sys/bus/event_source/devices.
struct PmuDevice {
  std::string name;
  std::optional<std::uint32_t> type;            ///< perf_event_attr.type
  std::map<std::string, std::string> format;    ///< field → its bits: "umask" → "config:8-15"
  std::map<std::string, std::string> events;    ///< name → its terms: "branch-misses" → "event=0xc5"
  std::string cpus;                             ///< CPUs that it counts on, if not all: "0-7"
  bool is_core = false;                         ///< counts what cores execute, not what happens around them
  std::map<std::string, PmuScale> scales = {};  ///< of the events that have one
  std::optional<int> rotation_ms = {};  ///< multiplexing: how long events run before others take over the counters
  bool operator==(const PmuDevice&) const = default;
};

/// True for the kernel's names of core PMUs: cpu, cpu_core, cpu_atom, armv8_…, apple_….
bool is_core_pmu(std::string_view name);
/// The same for a PMU of this machine, whatever its name: hybrid processors have several. Reads at most one file.
bool is_core_pmu(const std::string& root, const std::string& name);

/// Returns the names of all PMUs, sorted. `root`: the directory that contains sys/. Empty if sysfs lists none.
std::vector<std::string> pmu_names(const std::string& root = "/");

/// Returns one PMU; nothing if the kernel has none of this name, or if it is not a valid file name. Cost: some small
/// files.
std::optional<PmuDevice> pmu_device(const std::string& root, const std::string& name);

/// Whether the kernel has this tracepoint; also false if its directory cannot be read.
bool has_tracepoint(const std::string& root, const std::string& group, const std::string& name);

}  // namespace tally::linux
