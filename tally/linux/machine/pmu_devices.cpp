#include "tally/linux/machine/pmu_devices.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

fs::path devices(const std::string& root) { return fs::path(root) / "sys/bus/event_source/devices"; }

std::map<std::string, std::string> texts(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : folder_entries(folder)) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) all[name] = content(folder / name);
  }
  return all;
}

// Moves files "x.scale" and "x.unit" next to an event "x" to the scales, and removes others such as "x.snapshot".
void take_companions(std::map<std::string, std::string>& events, std::map<std::string, PmuScale>& scales) {
  for (const auto& [name, text] : events) {
    if (!events.contains(name + ".scale")) continue;
    const auto unit = events.find(name + ".unit");
    scales[name] = {std::strtod(events.at(name + ".scale").c_str(), nullptr), unit == events.end() ? "" : unit->second};
  }
  std::erase_if(events, [](const auto& one) {
    const std::string& name = one.first;
    return name.ends_with(".scale") || name.ends_with(".unit") || name.ends_with(".snapshot") ||
           name.ends_with(".per-pkg");
  });
}

bool is_file_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() < 256 &&
         name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos;
}

}  // namespace

bool is_core_pmu(std::string_view name) {
  return name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv") || name.starts_with("apple_");
}

bool is_core_pmu(const std::string& root, const std::string& name) {
  // A hybrid machine has a PMU with this file for each kind of core, whatever its name.
  return is_core_pmu(name) || !content(devices(root) / name / "cpus").empty();
}

std::vector<std::string> pmu_names(const std::string& root) { return folder_entries(devices(root)); }

std::optional<PmuDevice> pmu_device(const std::string& root, const std::string& name) {
  if (!is_file_name(name)) return std::nullopt;
  const fs::path folder = devices(root) / name;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return std::nullopt;
  PmuDevice device;
  device.name = name;
  if (const auto type = parse_integer(content(folder / "type")); type && *type >= 0 && *type <= UINT32_MAX) {
    device.type = static_cast<std::uint32_t>(*type);
  }
  device.format = texts(folder / "format");
  device.events = texts(folder / "events");
  take_companions(device.events, device.scales);
  device.cpus = content(folder / "cpus");
  device.is_core = is_core_pmu(root, name);
  if (const auto rotation = parse_integer(content(folder / "perf_event_mux_interval_ms")); rotation && *rotation > 0) {
    device.rotation_ms = static_cast<int>(std::min<std::int64_t>(*rotation, INT_MAX));
  }
  if (device.cpus.empty()) device.cpus = content(folder / "cpumask");
  return device;
}

bool has_tracepoint(const std::string& root, const std::string& group, const std::string& name) {
  if (!is_file_name(group) || !is_file_name(name)) return false;
  std::error_code error;
  return fs::is_directory(fs::path(root) / "sys/kernel/tracing/events" / group / name, error);
}

}  // namespace tally::linux
