// Temperatures, energies and frequencies that drivers tell in files of /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/machine/topology.hpp"

namespace tally::linux {

/// A temperature of processors.
struct TemperatureSensor {
  enum class Of { core, socket, machine };
  Of of = Of::machine;
  int socket = 0;
  int core = 0;                          ///< within the socket, as topology/core_id numbers it
  std::string path;                      ///< of the file with thousandths of degrees
  std::optional<std::int64_t> critical;  ///< thousandths of degrees at which the processor throttles
  std::string driver;                    ///< "coretemp", "k10temp", "thermal zone cpu-thermal"
  bool operator==(const TemperatureSensor&) const = default;
};

/// Those of hwmon's processor drivers; where there are none, thermal zones whose type speaks of a processor. `root` is
/// where sys/ lies. Cost: some files for each sensor of the machine.
std::vector<TemperatureSensor> temperature_sensors(const std::string& root);

/// A counter of energy of powercap (Documentation/power/powercap/powercap.rst).
struct EnergyCounter {
  enum class Of { processor, memory };
  Of of = Of::processor;
  int socket = 0;
  std::string path;            ///< of the file with microjoules
  std::uint64_t range_uj = 0;  ///< it begins anew behind this
  std::string zone;            ///< "intel-rapl:0"
  bool operator==(const EnergyCounter&) const = default;
};
std::vector<EnergyCounter> energy_counters(const std::string& root);

/// What a processor package may use, in watts.
struct PowerLimits {
  std::optional<double> rated;  ///< the long-term constraint's maximum: TDP
  std::optional<double> least, most;
  bool operator==(const PowerLimits&) const = default;
};

/// Of socket 0, as powercap tells; it tells no least power: that stands in MSR_PKG_POWER_INFO alone.
PowerLimits power_limits(const std::string& root);

/// A number in a file; nothing where it cannot be read or is none.
std::optional<std::int64_t> number_in(const std::string& path);

}  // namespace tally::linux
