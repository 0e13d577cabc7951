// Finds temperatures, energies and power limits in files of /sys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/machine/topology.hpp"

namespace tally::watch {

/// A temperature sensor of a processor.
struct TemperatureSensor {
  enum class Of { core, socket, machine };
  Of of = Of::machine;
  int socket = 0;
  int core = 0;                          ///< within the socket: topology/core_id
  std::string path;                      ///< of the file with thousandths of degrees
  std::optional<std::int64_t> critical;  ///< thousandths of degrees at which the processor throttles
  std::string driver;                    ///< "coretemp", "k10temp", "thermal zone cpu-thermal"
  bool operator==(const TemperatureSensor&) const = default;
};

/// Returns the sensors of hwmon's processor drivers; if there are none, thermal zones whose type names a processor.
/// `root`: the directory that contains sys/. Cost: some files for each sensor of the machine.
std::vector<TemperatureSensor> temperature_sensors(const std::string& root);

/// An energy counter of powercap (Documentation/power/powercap/powercap.rst).
struct EnergyCounter {
  enum class Of { processor, memory };
  Of of = Of::processor;
  int socket = 0;
  std::string path;            ///< of the file with microjoules
  std::uint64_t range_uj = 0;  ///< it wraps to 0 after this value
  std::string zone;            ///< "intel-rapl:0"
  bool operator==(const EnergyCounter&) const = default;
};
std::vector<EnergyCounter> energy_counters(const std::string& root);

/// Power limits of a processor package, in watts.
struct PowerLimits {
  std::optional<double> rated;  ///< maximum of the long-term constraint: TDP
  std::optional<double> least, most;
  bool operator==(const PowerLimits&) const = default;
};

/// Reads those of socket 0 from powercap, which has no minimum: only MSR_PKG_POWER_INFO contains that.
PowerLimits power_limits(const std::string& root);

/// Returns the number in a file; nothing if it cannot be read or is not a number.
std::optional<std::int64_t> number_in(const std::string& path);

}  // namespace tally::watch
