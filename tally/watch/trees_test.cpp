// Machines that we do not have, made of files: every cell is right, or absent with the right reason.
#include <gtest/gtest.h>

#include "tally/watch/tree_testing.hpp"
#include "tally/watch/uncore_events.hpp"
#include "tally/watch/watcher.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;

const result::WatchRow& row_of(const result::WatchTable& table, Kind kind, const std::string& name) {
  for (const result::WatchRow& row : table.rows) {
    if (row.kind == kind && row.name == name) return row;
  }
  static const result::WatchRow none{Kind::core, "", {}, {}, {}, std::vector<result::WatchCell>(column_count)};
  ADD_FAILURE() << "no row " << name;
  return none;
}

std::optional<double> value(const result::WatchRow& row, Id id) {
  return row.cells[static_cast<std::size_t>(id)].value;
}

std::string reason(const result::WatchTable& table, const result::WatchRow& row, Id id) {
  const result::WatchCell& cell = row.cells[static_cast<std::size_t>(id)];
  return cell.value ? "has a value" : table.reasons.at(cell.reason).code;
}

Watcher open(const Tree& tree, std::vector<Kind> kinds = {Kind::core, Kind::socket, Kind::system}) {
  Asked asked;
  asked.root = tree.root();
  asked.shown.kinds = std::move(kinds);
  auto watcher = Watcher::open(asked);
  EXPECT_TRUE(watcher) << watcher.error().message;
  return std::move(*watcher);
}

// Two sockets of two cores with two threads each: cpufreq, coretemp, RAPL, resctrl, schedstat, pressure.
void make_xeon(const Tree& tree) {
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

TEST(Xeon, every_cell_of_two_sockets) {
  const Tree tree;
  make_xeon(tree);
  Watcher watcher = open(tree);
  tree.times(8, 130, 960, 10);
  tree.write("proc/vmstat", "pgfault 5000\npgmajfault 10");
  tree.write("proc/schedstat", "version 15\ncpu0 0 0 0 0 0 0 0 2000 0");
  tree.write("sys/class/powercap/intel-rapl:1/energy_uj", "2000000");
  tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "9500000");
  tree.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "1500000");
  tree.write("sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", "2000");
  tree.write("sys/fs/resctrl/mon_data/mon_L3_00/mbm_local_bytes", "1250");
  const result::WatchTable table = watcher.next();
  ASSERT_EQ(table.rows.size(), 8u + 2 + 1);

  const auto& core = row_of(table, Kind::core, "7");  // the second thread of socket 1's core 1
  EXPECT_EQ(core.socket, 1);
  EXPECT_DOUBLE_EQ(value(core, Id::util).value_or(-1), 0.3);
  EXPECT_DOUBLE_EQ(value(core, Id::steal).value_or(-1), 0.1);
  EXPECT_DOUBLE_EQ(value(core, Id::cfreq).value_or(-1), 2.107);
  EXPECT_EQ(value(core, Id::temperature), 51);
  EXPECT_EQ(value(core, Id::margin), 49);
  EXPECT_EQ(reason(table, core, Id::l3_occupancy), "resctrl-no-group");
  EXPECT_EQ(reason(table, core, Id::ipc), "no-pmu");
  EXPECT_EQ(reason(table, core, Id::faults), "not-opened");
  EXPECT_EQ(reason(table, core, Id::read), "not-of-this");
  EXPECT_EQ(reason(table, core, Id::waiting), "gone") << "the kernel told of processor 0 alone";

  const auto& first = row_of(table, Kind::socket, "0");
  EXPECT_EQ(value(first, Id::temperature), 50);
  EXPECT_DOUBLE_EQ(value(first, Id::processor_energy).value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(value(first, Id::memory_energy).value_or(-1), 0.5);
  EXPECT_EQ(value(first, Id::l3_occupancy), 100);
  EXPECT_EQ(value(first, Id::local), 75);
  EXPECT_EQ(reason(table, first, Id::read), "no-memory-controller");
  EXPECT_EQ(reason(table, first, Id::uncore_frequency), "no-uncore-clock");

  const auto& second = row_of(table, Kind::socket, "1");
  EXPECT_DOUBLE_EQ(value(second, Id::processor_energy).value_or(-1), 3.0) << "it began anew behind its range";
  EXPECT_EQ(value(second, Id::memory_energy), 0) << "it was read, and nothing was used: no absent cell";
  EXPECT_EQ(value(second, Id::local), std::nullopt) << "no traffic has no share";

  const auto& system = row_of(table, Kind::system, "");
  EXPECT_EQ(value(system, Id::temperature), 60);
  EXPECT_EQ(value(system, Id::margin), 40);
  EXPECT_EQ(value(system, Id::l3_occupancy), 300);
  EXPECT_DOUBLE_EQ(value(system, Id::processor_energy).value_or(-1), 3.5);
  EXPECT_EQ(value(system, Id::memory), 600 * 1024);
  EXPECT_EQ(value(system, Id::runnable), 2);
  EXPECT_EQ(value(system, Id::memory_pressure), 0);
  EXPECT_EQ(reason(table, system, Id::cpu_pressure), "no-pressure");
  EXPECT_GT(value(system, Id::faults).value_or(0), 0);
}

TEST(Xeon, what_vanishes_is_absent_and_never_zero) {
  const Tree tree;
  make_xeon(tree);
  Watcher watcher = open(tree);
  tree.remove("sys/class/powercap/intel-rapl:0/energy_uj");
  tree.remove("sys/class/hwmon/hwmon1/temp1_input");
  tree.write("proc/stat", "cpu0 200 0 0 950 0 0 0 0 0 0");  // the others were switched off
  const result::WatchTable table = watcher.next();
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::processor_energy), "gone");
  EXPECT_EQ(reason(table, row_of(table, Kind::system, ""), Id::processor_energy), "gone");
  EXPECT_NE(reason(table, row_of(table, Kind::core, "3"), Id::util), "has a value");
}

TEST(Xeon, memory_traffic_and_energy_by_pmus_that_are_there_but_not_opened) {
  const Tree tree;
  make_xeon(tree);
  const std::string imc = "sys/bus/event_source/devices/uncore_imc_0";
  tree.write(imc + "/type", "14");
  tree.write(imc + "/cpumask", "0,2");
  tree.write(imc + "/format/event", "config:0-7");
  tree.write(imc + "/format/umask", "config:8-15");
  tree.write(imc + "/events/cas_count_read", "event=0x04,umask=0x03");
  tree.write(imc + "/events/cas_count_read.scale", "6.103515625e-5");
  tree.write(imc + "/events/cas_count_read.unit", "MiB");
  tree.write("sys/bus/event_source/devices/cpu/type", "4");
  const Machine machine = look_at(tree.root());
  const auto events = around_events(machine);
  ASSERT_EQ(events.size(), 2u) << "one a socket";
  EXPECT_EQ(events[1].socket, 1);
  EXPECT_EQ(events[0].config, 0x304u);
  EXPECT_DOUBLE_EQ(events[0].scale, 64) << "a line";
  Watcher watcher = open(tree);
  const result::WatchTable table = watcher.next();
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::read), "not-opened");
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::write), "unknown-memory-controller");
  EXPECT_EQ(reason(table, row_of(table, Kind::core, "0"), Id::ipc), "not-opened");
}

}  // namespace
}  // namespace tally::watch
