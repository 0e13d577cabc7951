#include "programs/watch/live/sensors.hpp"

#include <algorithm>
#include <filesystem>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::watch {
namespace {

namespace fs = std::filesystem;

// "temp12_input" → 12.
std::optional<int> input_number(const std::string& name) {
  if (!name.starts_with("temp") || !name.ends_with("_input")) return std::nullopt;
  const auto number = parse_integer(name.substr(4, name.size() - 10));
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

// Returns the number at the end of a text: "Core 12" → 12, "coretemp.1" → 1.
std::optional<int> last_number(const std::string& text) {
  const std::size_t end = text.find_last_not_of("0123456789");
  const auto number = parse_integer(end == std::string::npos ? text : text.substr(end + 1));
  return number ? std::optional<int>(static_cast<int>(*number)) : std::nullopt;
}

// Intel: Documentation/hwmon/coretemp.rst. One device for each socket, which "Package id 1" identifies, too.
void add_coretemp(const fs::path& folder, int socket, std::vector<TemperatureSensor>& all) {
  const std::vector<std::string> names = linux::folder_entries(folder);
  for (const std::string& name : names) {
    if (name.starts_with("temp") && name.ends_with("_label")) {
      const std::string label = linux::content(folder / name);
      if (label.starts_with("Package id ")) socket = last_number(label).value_or(socket);
    }
  }
  for (const std::string& name : names) {
    const auto number = input_number(name);
    if (!number) continue;
    const std::string stem = "temp" + std::to_string(*number);
    const std::string label = linux::content(folder / (stem + "_label"));
    TemperatureSensor sensor{TemperatureSensor::Of::socket, socket, 0, folder / name, {}, "coretemp"};
    if (label.starts_with("Core ")) {
      sensor.of = TemperatureSensor::Of::core;
      sensor.core = last_number(label).value_or(0);
    } else if (!label.starts_with("Package") && !label.starts_with("Physical")) {
      continue;
    }
    sensor.critical = number_in(folder / (stem + "_crit"));
    all.push_back(std::move(sensor));
  }
}

// AMD: Documentation/hwmon/k10temp.rst. Tdie is the temperature; Tctl has an offset on some processors; newer ones have
// only Tctl.
void add_k10temp(const fs::path& folder, int socket, std::vector<TemperatureSensor>& all) {
  std::optional<int> chosen;
  std::string chosen_label;
  for (const std::string& name : linux::folder_entries(folder)) {
    const auto number = input_number(name);
    if (!number) continue;
    const std::string label = linux::content(folder / ("temp" + std::to_string(*number) + "_label"));
    if (label == "Tdie" || (label == "Tctl" && chosen_label != "Tdie") || !chosen) {
      chosen = number;
      chosen_label = label;
    }
  }
  if (!chosen) return;
  const std::string stem = "temp" + std::to_string(*chosen);
  all.push_back({TemperatureSensor::Of::socket, socket, 0, folder / (stem + "_input"),
                 number_in(folder / (stem + "_crit")), "k10temp"});
}

void add_thermal_zones(const fs::path& base, std::vector<TemperatureSensor>& all) {
  for (const std::string& zone : linux::folder_entries(base)) {
    if (!zone.starts_with("thermal_zone")) continue;
    const std::string type = linux::content(base / zone / "type");
    const std::string small = lower(type);
    const bool is_package = small == "x86_pkg_temp";
    if (!is_package && small.find("cpu") == std::string::npos && small.find("soc") == std::string::npos) continue;
    all.push_back({is_package ? TemperatureSensor::Of::socket : TemperatureSensor::Of::machine,
                   0,
                   0,
                   base / zone / "temp",
                   {},
                   "thermal zone " + type});
  }
}

}  // namespace

std::optional<std::int64_t> number_in(const std::string& path) { return parse_integer(linux::content(path)); }

std::vector<TemperatureSensor> temperature_sensors(const std::string& root) {
  std::vector<TemperatureSensor> all;
  const fs::path base = fs::path(root) / "sys/class/hwmon";
  std::vector<std::string> devices = linux::folder_entries(base);
  // hwmon10 after hwmon9: nothing else orders AMD's sockets.
  std::sort(devices.begin(), devices.end(),
            [](const std::string& a, const std::string& b) { return std::pair(a.size(), a) < std::pair(b.size(), b); });
  int intel = 0, amd = 0;
  for (const std::string& device : devices) {
    const std::string driver = linux::content(base / device / "name");
    if (driver == "coretemp") add_coretemp(base / device, intel++, all);
    if (driver == "k10temp" || driver == "zenpower") add_k10temp(base / device, amd++, all);
  }
  if (all.empty()) add_thermal_zones(fs::path(root) / "sys/class/thermal", all);
  return all;
}

std::vector<EnergyCounter> energy_counters(const std::string& root) {
  std::vector<EnergyCounter> all;
  const fs::path base = fs::path(root) / "sys/class/powercap";
  for (const std::string& zone : linux::folder_entries(base)) {
    // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of it; AMD's have the same names. "intel-rapl-mmio:0" is the
    // same package again.
    if (!zone.starts_with("intel-rapl:")) continue;
    const std::string name = linux::content(base / zone / "name");
    const std::string whole = zone.substr(0, zone.find(':', zone.find(':') + 1));
    const std::string package = zone == whole ? name : linux::content(base / whole / "name");
    if (!package.starts_with("package-")) continue;
    EnergyCounter counter;
    if (zone != whole && name != "dram") continue;
    counter.of = zone == whole ? EnergyCounter::Of::processor : EnergyCounter::Of::memory;
    // "package-1", "package-1-die-0"
    const auto socket = parse_integer(package.substr(8, package.find('-', 8) - 8));
    counter.socket = static_cast<int>(socket.value_or(0));
    counter.path = base / zone / "energy_uj";
    counter.range_uj = static_cast<std::uint64_t>(number_in(base / zone / "max_energy_range_uj").value_or(0));
    counter.zone = zone;
    all.push_back(std::move(counter));
  }
  return all;
}

PowerLimits power_limits(const std::string& root) {
  const fs::path zone = fs::path(root) / "sys/class/powercap/intel-rapl:0";
  const auto watts = [](std::optional<std::int64_t> microwatts) {
    return microwatts && *microwatts > 0 ? std::optional<double>(static_cast<double>(*microwatts) / 1e6) : std::nullopt;
  };
  PowerLimits limits;
  // The driver reads the maximum of constraint 0 from MSR_PKG_POWER_INFO (thermal spec power).
  limits.rated = watts(number_in(zone / "constraint_0_max_power_uw"));
  limits.most = watts(number_in(zone / "constraint_1_max_power_uw"));
  return limits;
}

}  // namespace tally::watch
