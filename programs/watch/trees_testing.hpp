// Helpers for tests with machines made of files: access to cells, and one of the machines.
#pragma once
#include <gtest/gtest.h>

#include "programs/watch/tree_testing.hpp"
#include "programs/watch/watcher.hpp"

namespace tally::watch {

using Kind = result::WatchKind;

inline const result::WatchRow& row_of(const result::WatchTable& table, Kind kind, const std::string& name) {
  for (const result::WatchRow& row : table.rows) {
    if (row.kind == kind && row.name == name) return row;
  }
  static const result::WatchRow none{Kind::core, "", {}, {}, {}, std::vector<result::WatchCell>(column_count)};
  ADD_FAILURE() << "no row " << name;
  return none;
}

inline std::optional<double> value(const result::WatchRow& row, Id id) {
  return row.cells[static_cast<std::size_t>(id)].value;
}

inline std::string reason(const result::WatchTable& table, const result::WatchRow& row, Id id) {
  const result::WatchCell& cell = row.cells[static_cast<std::size_t>(id)];
  return cell.value ? "has a value" : table.reasons.at(cell.reason).code;
}

inline Watcher open(const Tree& tree, std::vector<Kind> kinds = {Kind::core, Kind::socket, Kind::system}) {
  WatchRequest asked;
  asked.root = tree.root();
  asked.shown.kinds = std::move(kinds);
  auto watcher = Watcher::open(asked);
  EXPECT_TRUE(watcher) << watcher.error().message;
  return std::move(*watcher);
}

// Two sockets of two cores with two threads each: cpufreq, coretemp, RAPL, resctrl, schedstat, pressure.
inline void make_xeon(const Tree& tree) {
  tree.processors(8, 2, 2);
  tree.times(8, 100, 900, 0);
  tree.write("proc/cpuinfo",
             "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6130\nflags\t\t: fpu cqm_occup_llc aperfmperf");
  tree.write("proc/vmstat", "pgfault 1000\npgmajfault 10");
  tree.write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB");
  tree.write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000");
  tree.write("proc/schedstat", "version 15\ncpu0 0 0 0 0 0 0 0 1000 0");
  for (int processor = 0; processor < 8; ++processor) {
    tree.write(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor),
               std::to_string(2'100'000 + processor * 1000));
  }
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2100000");
  for (int socket = 0; socket < 2; ++socket) {
    const std::string hwmon = fmt::format("sys/class/hwmon/hwmon{}", socket + 1);
    tree.write(hwmon + "/name", "coretemp");
    tree.write(hwmon + "/temp1_label", fmt::format("Package id {}", socket));
    tree.write(hwmon + "/temp1_input", std::to_string(50'000 + socket * 10'000));
    tree.write(hwmon + "/temp1_crit", "100000");
    for (int core = 0; core < 2; ++core) {
      tree.write(fmt::format("{}/temp{}_label", hwmon, core + 2), fmt::format("Core {}", core));
      tree.write(fmt::format("{}/temp{}_input", hwmon, core + 2),
                 std::to_string(40'000 + socket * 10'000 + core * 1000));
      tree.write(fmt::format("{}/temp{}_crit", hwmon, core + 2), "100000");
    }
    const std::string zone = fmt::format("sys/class/powercap/intel-rapl:{}", socket);
    tree.write(zone + "/name", fmt::format("package-{}", socket));
    tree.write(zone + "/energy_uj", "9000000");
    tree.write(zone + "/max_energy_range_uj", "10000000");
    tree.write(zone + "/constraint_0_max_power_uw", "125000000");
    tree.write(zone + ":0/name", "dram");
    tree.write(zone + ":0/energy_uj", "1000000");
    tree.write(zone + ":0/max_energy_range_uj", "10000000");
    const std::string domain = fmt::format("sys/fs/resctrl/mon_data/mon_L3_{:02}", socket);
    tree.write(domain + "/llc_occupancy", std::to_string(1024 * 100 * (socket + 1)));
    tree.write(domain + "/mbm_total_bytes", "1000");
    tree.write(domain + "/mbm_local_bytes", "500");
  }
  tree.write("sys/fs/resctrl/schemata", "L3:0=fff;1=fff");
}

}  // namespace tally::watch
