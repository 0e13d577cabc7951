// Machines made of files: every cell has the right value or the right reason.
#include <gtest/gtest.h>

#include "programs/watch/cache_events.hpp"
#include "programs/watch/trees_testing.hpp"
#include "programs/watch/uncore_events.hpp"
#include "programs/watch/watch_header.hpp"
#include "programs/watch/watched_machine.hpp"
#include "programs/watch/watcher.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::watch {
namespace {

TEST(Header, shows_no_counters_of_a_virtual_amd_machine_without_a_pmu) {
  WatchedMachine machine;
  machine.processor = pmu::Processor{};
  machine.processor->under_hypervisor = true;
  machine.processor->amd_counters = 4;
  const auto counters_of = [](const result::WatchHeader& header) {
    for (const result::WatchFact& fact : header.facts) {
      if (fact.label == "Number of core PMU generic (programmable) counters") return fact;
    }
    return result::WatchFact{};
  };
  EXPECT_EQ(counters_of(header_of(machine)).text, "");
  EXPECT_EQ(counters_of(header_of(machine)).reason, "this virtual machine has no virtual PMU");
  machine.survey.core_pmus.push_back({"cpu", {}, {}, {}});
  EXPECT_EQ(counters_of(header_of(machine)).text, "4");
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
  EXPECT_EQ(reason(table, core, Id::waiting), "gone") << "the kernel reported only processor 0";

  const auto& first = row_of(table, Kind::socket, "0");
  EXPECT_EQ(value(first, Id::temperature), 50);
  EXPECT_DOUBLE_EQ(value(first, Id::processor_energy).value_or(-1), 0.5);
  EXPECT_DOUBLE_EQ(value(first, Id::memory_energy).value_or(-1), 0.5);
  EXPECT_EQ(value(first, Id::l3_occupancy), 100);
  EXPECT_EQ(value(first, Id::local), 75);
  EXPECT_EQ(reason(table, first, Id::read), "no-memory-controller");
  EXPECT_EQ(reason(table, first, Id::uncore_frequency), "no-uncore-clock");

  const auto& second = row_of(table, Kind::socket, "1");
  EXPECT_DOUBLE_EQ(value(second, Id::processor_energy).value_or(-1), 3.0) << "it wrapped around after its range";
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
  const WatchedMachine machine = read_watched_machine(tree.root());
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

TEST(Xeon, latency_of_misses_needs_the_long_unit_mask_of_ice_lake_servers) {
  for (const auto& [umask, expected] : {std::pair{"config:8-15", 0u}, {"config:8-15,32-57", 4u}}) {
    const Tree tree;
    make_xeon(tree);
    const std::string cha = "sys/bus/event_source/devices/uncore_cha_0";
    tree.write(cha + "/type", "20");
    tree.write(cha + "/cpumask", "0,2");
    tree.write(cha + "/format/event", "config:0-7");
    tree.write(cha + "/format/umask", umask);
    const auto events = around_events(read_watched_machine(tree.root()));
    ASSERT_EQ(events.size(), expected) << umask << ": pending and missed, of two sockets";
    if (!events.empty()) EXPECT_EQ(events[0].config, 0x00C8'17FE'0000'0136u);
    Watcher watcher = open(tree);
    const result::WatchTable table = watcher.next();
    EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::miss_latency),
              events.empty() ? "no-latency-events" : "no-uncore-clock");
  }
}

// An AMD machine with two sockets: one L3 cache per two cores, k10temp, energy of packages only, cgroup v2.
TEST(Epyc, every_cell) {
  const Tree tree;
  tree.processors(4, 2, 1);
  tree.times(4, 100, 100, 0);
  tree.write(
      "proc/cpuinfo",
      "processor\t: 0\nmodel name\t: AMD EPYC 7543\nflags\t\t: fpu aperfmperf cqm_occup_llc\ncpu MHz\t\t: 2795.1\n\n"
      "processor\t: 1\ncpu MHz\t\t: 3600.0");
  for (int socket = 0; socket < 2; ++socket) {
    const std::string hwmon = fmt::format("sys/class/hwmon/hwmon{}", 9 + socket);
    tree.write(hwmon + "/name", "k10temp");
    tree.write(hwmon + "/temp1_label", "Tctl");
    tree.write(hwmon + "/temp1_input", "90000");
    tree.write(hwmon + "/temp2_label", "Tdie");
    tree.write(hwmon + "/temp2_input", std::to_string(60'000 + socket * 1000));
    const std::string zone = fmt::format("sys/class/powercap/intel-rapl:{}", socket);
    tree.write(zone + "/name", fmt::format("package-{}", socket));
    tree.write(zone + "/max_energy_range_uj", "65532610987");
  }
  tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000");
  tree.write("sys/bus/event_source/devices/amd_df/type", "11");
  tree.write("sys/bus/event_source/devices/amd_l3/type", "12");
  tree.write("sys/bus/event_source/devices/cpu/type", "4");
  Watcher watcher = open(tree);
  tree.times(4, 150, 150, 0);
  tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "3000000");
  const result::WatchTable table = watcher.next();
  const auto& core = row_of(table, Kind::core, "1");
  EXPECT_EQ(value(core, Id::util), 0.5);
  EXPECT_EQ(value(core, Id::cfreq), 3.6) << "the kernel measures it";
  EXPECT_EQ(value(core, Id::temperature), std::nullopt);
  EXPECT_EQ(reason(table, core, Id::temperature), "temperature-of-whole");
  EXPECT_EQ(reason(table, core, Id::l3_occupancy), "resctrl-not-mounted");
  const auto& socket = row_of(table, Kind::socket, "1");
  EXPECT_EQ(value(socket, Id::temperature), 61) << "Tdie: Tctl has an offset";
  EXPECT_EQ(reason(table, socket, Id::margin), "no-critical-temperature");
  EXPECT_EQ(reason(table, socket, Id::read), "unknown-memory-controller");
  EXPECT_EQ(value(row_of(table, Kind::socket, "0"), Id::processor_energy), 2);
  EXPECT_EQ(reason(table, socket, Id::processor_energy), "gone") << "only the first socket's file can be read";
  EXPECT_EQ(reason(table, socket, Id::memory_energy), "no-memory-energy");
}

// Two kinds of cores, with one and with two threads; only root can read the energy file.
TEST(Hybrid, every_cell) {
  const Tree tree;
  tree.processors(3, 1, 1);
  tree.write("sys/devices/system/cpu/cpu1/topology/core_id", "0");  // a thread of the first
  tree.times(3, 100, 100, 0);
  tree.write("proc/cpuinfo",
             "processor\t: 0\nmodel name\t: 12th Gen Intel(R) Core(TM) i7-1260P\nflags\t\t: fpu aperfmperf");
  tree.write("sys/bus/event_source/devices/cpu_core/type", "4");
  tree.write("sys/bus/event_source/devices/cpu_core/cpus", "0-1");
  tree.write("sys/bus/event_source/devices/cpu_atom/type", "10");
  tree.write("sys/bus/event_source/devices/cpu_atom/cpus", "2");
  const std::string imc = "sys/bus/event_source/devices/uncore_imc_free_running_0";
  tree.write(imc + "/type", "20");
  tree.write(imc + "/cpumask", "0");
  tree.write(imc + "/format/event", "config:0-7");
  tree.write(imc + "/format/umask", "config:8-15");
  for (const auto& [event, umask] : {std::pair{"data_read", "0x20"}, {"data_write", "0x30"}}) {
    tree.write(fmt::format("{}/events/{}", imc, event), fmt::format("event=0xff,umask={}", umask));
    tree.write(fmt::format("{}/events/{}.scale", imc, event), "6.103515625e-5");
    tree.write(fmt::format("{}/events/{}.unit", imc, event), "MiB");
  }
  tree.write("sys/class/hwmon/hwmon4/name", "coretemp");
  tree.write("sys/class/hwmon/hwmon4/temp2_label", "Core 0");
  tree.write("sys/class/hwmon/hwmon4/temp2_input", "71000");
  tree.write("sys/class/hwmon/hwmon4/temp2_crit", "100000");
  tree.write("sys/class/powercap/intel-rapl:0/name", "package-0");
  Watcher watcher = open(tree);
  const result::WatchTable table = watcher.next();
  EXPECT_EQ(value(row_of(table, Kind::core, "1"), Id::temperature), 71) << "both threads of a core";
  EXPECT_EQ(reason(table, row_of(table, Kind::core, "2"), Id::temperature), "gone");
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::read), "not-opened");
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::processor_energy), "powercap-root");
  const auto events = around_events(watcher.machine());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].config, 0x20ffu);
  EXPECT_EQ(events[1].counts, Counted::written_bytes);
  bool is_hybrid = false, says_threads = false;
  for (const auto& fact : watcher.header().facts) {
    is_hybrid |= fact.label == "Hybrid processor" && fact.text == "yes";
    says_threads |= fact.label.starts_with("Threads") && fact.reason == "not the same for all cores";
  }
  EXPECT_TRUE(is_hybrid && says_threads);
}

// An arm64 server: no CPUID, cpufreq by firmware, a thermal zone, a mesh whose traffic tally cannot count in bytes.
TEST(ArmServer, every_cell) {
  const Tree tree;
  tree.write("proc/sys/kernel/arch", "aarch64");
  tree.processors(2, 1, 1);
  tree.write("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1");  // firmware without PPTT
  tree.write("sys/devices/system/cpu/cpu1/topology/physical_package_id", "-1");
  tree.remove("sys/devices/system/cpu/cpu0/cache");
  tree.remove("sys/devices/system/cpu/cpu1/cache");
  tree.times(2, 100, 100, 0);
  tree.write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c");
  tree.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000");
  tree.write("sys/class/thermal/thermal_zone0/type", "cpu-thermal");
  tree.write("sys/class/thermal/thermal_zone0/temp", "45500");
  tree.write("sys/class/thermal/thermal_zone1/type", "gpu-thermal");
  tree.write("sys/class/thermal/thermal_zone1/temp", "99000");
  tree.write("sys/bus/event_source/devices/armv8_pmuv3_0/type", "8");
  tree.write("sys/bus/event_source/devices/armv8_pmuv3_0/events/l2d_cache_refill", "event=0x0017");
  tree.write("sys/bus/event_source/devices/armv8_pmuv3_0/events/l2d_cache", "event=0x0016");
  tree.write("sys/bus/event_source/devices/arm_cmn_0/type", "9");
  const auto device = linux::pmu_device(tree.root(), "armv8_pmuv3_0");
  ASSERT_TRUE(device);
  const auto events = cache_events(nullptr, *device);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].config, 0x17u);
  EXPECT_TRUE(events[1].accesses) << "it counts lookups, which are hits and misses";
  Watcher watcher = open(tree);
  const result::WatchTable table = watcher.next();
  EXPECT_EQ(value(row_of(table, Kind::core, "0"), Id::cfreq), 3);
  EXPECT_EQ(reason(table, row_of(table, Kind::core, "1"), Id::cfreq), "gone") << "this one's driver reports nothing";
  EXPECT_EQ(value(row_of(table, Kind::system, ""), Id::temperature), 45.5) << "the graphics zone is not used";
  EXPECT_EQ(reason(table, row_of(table, Kind::core, "0"), Id::temperature), "temperature-of-whole");
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::l3_occupancy), "no-resctrl");
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::read), "unknown-memory-controller");
  EXPECT_EQ(reason(table, row_of(table, Kind::core, "0"), Id::ipc), "not-opened");
  for (const auto& fact : watcher.header().facts) {
    if (fact.label == "CPU part") {
      EXPECT_EQ(fact.text, "0xd0c");
    }
    EXPECT_NE(fact.text.empty(), fact.reason.empty()) << fact.label;
  }
}

// AMD's memory controllers have no event names; they are counted by code.
TEST(Epyc, memory_traffic_of_its_controllers) {
  const Tree tree;
  tree.processors(4, 2, 1);
  tree.times(4, 100, 100, 0);
  for (const int controller : {0, 1}) {
    const std::string umc = fmt::format("sys/bus/event_source/devices/amd_umc_{}", controller);
    tree.write(umc + "/type", std::to_string(20 + controller));
    tree.write(umc + "/cpumask", std::to_string(2 * controller));
    tree.write(umc + "/format/event", "config:0-7");
    tree.write(umc + "/format/rdwrmask", "config:8-9");
  }
  tree.write("sys/bus/event_source/devices/cpu/type", "4");
  Watcher watcher = open(tree);
  const auto events = around_events(watcher.machine());
  ASSERT_EQ(events.size(), 4u) << "reads and writes of each";
  EXPECT_EQ(events[0].config, 0x10au);
  EXPECT_EQ(events[1].config, 0x20au);
  EXPECT_EQ(events[1].counts, Counted::written_bytes);
  EXPECT_EQ(events[0].scale, 64) << "a line";
  EXPECT_EQ(events[2].socket, 1);
  const result::WatchTable table = watcher.next();
  EXPECT_EQ(reason(table, row_of(table, Kind::socket, "0"), Id::read), "not-opened");
}

// The kernel has event names for NVIDIA's fabric; their units are in the guide.
TEST(ArmServer, memory_traffic_of_its_fabric) {
  const Tree tree;
  tree.write("proc/sys/kernel/arch", "aarch64");
  tree.processors(2, 1, 1);
  tree.times(2, 100, 100, 0);
  const std::string scf = "sys/bus/event_source/devices/nvidia_scf_pmu_0";
  tree.write(scf + "/type", "30");
  tree.write(scf + "/cpumask", "0");
  tree.write(scf + "/format/event", "config:0-63");
  tree.write(scf + "/events/cmem_rd_data", "event=0x1a5");
  tree.write(scf + "/events/cmem_wr_total_bytes", "event=0x1db");
  const std::string ddr = "sys/bus/event_source/devices/imx8_ddr0";
  tree.write(ddr + "/type", "31");
  tree.write(ddr + "/cpumask", "0");
  tree.write(ddr + "/format/event", "config:0-7");
  tree.write(ddr + "/format/axi_id", "config1:0-15");
  tree.write(ddr + "/format/axi_mask", "config1:16-31");
  tree.write(ddr + "/events/axid-read", "event=0x41");
  tree.write(ddr + "/events/axid-write", "event=0x42");
  const auto events = around_events(read_watched_machine(tree.root()));
  ASSERT_EQ(events.size(), 4u);
  const auto of = [&](const std::string& name) -> AroundEvent {
    for (const AroundEvent& one : events) {
      if (one.name.find(name) != std::string::npos) return one;
    }
    ADD_FAILURE() << name;
    return {};
  };
  EXPECT_EQ(of("cmem_rd_data").config, 0x1a5u);
  EXPECT_EQ(of("cmem_rd_data").scale, 32);
  EXPECT_EQ(of("cmem_wr_total_bytes").scale, 1);
  EXPECT_EQ(of("axid-read").config, 0x41u);
  EXPECT_EQ(of("axid-read").config1, 0xffff0000u);
}

// A virtual machine has no hardware data, and every reason names the cause.
TEST(Virtual, every_cell) {
  const Tree tree;
  tree.processors(2, 1, 1);
  tree.times(2, 100, 100, 50);
  tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\ncpu MHz\t\t: 2596.1");
  Watcher watcher = open(tree);
  tree.times(2, 150, 150, 150);
  const result::WatchTable table = watcher.next();
  const auto& core = row_of(table, Kind::core, "0");
  EXPECT_EQ(value(core, Id::steal), 0.5);
  EXPECT_EQ(value(core, Id::util), 0.25);
  for (const auto& [id, code] : {std::pair{Id::cfreq, "frequency-nominal"},
                                 {Id::temperature, "no-temperature"},
                                 {Id::l3_occupancy, "no-resctrl"},
                                 {Id::ipc, "no-pmu"},
                                 {Id::l3_misses, "no-pmu"}}) {
    EXPECT_EQ(reason(table, core, id), code);
  }
  const auto& socket = row_of(table, Kind::socket, "0");
  for (const auto& [id, code] : {std::pair{Id::read, "no-memory-controller"},
                                 {Id::local, "no-resctrl"},
                                 {Id::processor_energy, "no-energy"},
                                 {Id::memory_energy, "no-memory-energy"},
                                 {Id::uncore_frequency, "no-uncore-clock"},
                                 {Id::miss_latency, "no-latency-events"}}) {
    EXPECT_EQ(reason(table, socket, id), code);
  }
  for (const auto& one : table.reasons) {
    if (one.code == "no-temperature" || one.code == "no-energy") {
      EXPECT_NE(one.hint.find("virtual machine"), std::string::npos) << one.code;
    }
  }
}

// A container: /proc has its processes only, /sys/fs/cgroup has its own group as the root, some files are hidden.
TEST(Container, every_cell) {
  const Tree tree;
  tree.processors(2, 1, 1);
  tree.times(2, 100, 100, 0);
  tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu");
  tree.write("run/.containerenv", "");
  tree.write("proc/1/stat",
             "1 (init) S 0 1 1 0 -1 4194304 100 0 5 0 30 12 0 0 20 0 3 0 77 3133440 380 18446744073709551615");
  tree.write("proc/1/status", "Name: init\nvoluntary_ctxt_switches: 10\nnonvoluntary_ctxt_switches: 1");
  tree.write("proc/1/schedstat", "0 0 0");
  tree.write("proc/9/stat", "9 (ends soon) R 0 1 1 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 99 0 1");
  tree.write("sys/fs/cgroup/cgroup.controllers", "cpu memory");
  tree.write("sys/fs/cgroup/cpu.stat", "usage_usec 5000000\nthrottled_usec 100");
  tree.write("sys/fs/cgroup/memory.current", "1048576");
  tree.write("sys/fs/cgroup/memory.stat", "anon 1\npgfault 50\npgmajfault 1");
  tree.write("sys/fs/cgroup/inner/cpu.stat", "usage_usec 10");
  Watcher watcher = open(tree, {Kind::process, Kind::group});
  tree.write("proc/1/stat",
             "1 (init) S 0 1 1 0 -1 4194304 200 0 5 0 30 13 0 0 20 0 3 0 77 3133440 380 18446744073709551615");
  tree.write("proc/1/status", "Name: init\nvoluntary_ctxt_switches: 30\nnonvoluntary_ctxt_switches: 1");
  tree.remove("proc/9");
  tree.write("proc/9/stat", "9 (another) R 0 1 1 0 -1 0 1 0 0 0 500 0 0 0 20 0 1 0 120 0 1");
  tree.write("sys/fs/cgroup/cpu.stat", "usage_usec 5001000\nthrottled_usec 100");
  const result::WatchTable table = watcher.next();
  ASSERT_EQ(table.rows.size(), 4u);
  const auto& init = row_of(table, Kind::process, "init");
  EXPECT_GT(value(init, Id::util).value_or(0), 0);
  EXPECT_GT(value(init, Id::faults).value_or(0), 0);
  EXPECT_EQ(value(init, Id::major_faults), 0);
  EXPECT_GT(value(init, Id::switches).value_or(0), 0);
  EXPECT_EQ(reason(table, init, Id::waiting), "no-schedstat");
  EXPECT_EQ(reason(table, init, Id::temperature), "not-of-this");
  EXPECT_EQ(reason(table, row_of(table, Kind::process, "another"), Id::util), "not-yet")
      << "another process of its number";
  const auto& root = row_of(table, Kind::group, "/");
  EXPECT_GT(value(root, Id::util).value_or(0), 0);
  EXPECT_EQ(value(root, Id::memory), 1048576);
  EXPECT_EQ(value(root, Id::throttled), 0);
  EXPECT_EQ(reason(table, root, Id::memory_pressure), "cgroup-controller");
  const auto& inner = row_of(table, Kind::group, "/inner");
  EXPECT_EQ(value(inner, Id::util), 0);
  EXPECT_EQ(reason(table, inner, Id::memory), "cgroup-controller");
}

TEST(Processes, of_others_are_hidden_by_hidepid) {
  const Tree tree;
  const auto mount = [&](const char* options) {
    tree.write("proc/self/mounts", std::string("sysfs /sys sysfs rw 0 0\nproc /proc proc ") + options + " 0 0");
  };
  mount("rw,nosuid,hidepid=invisible");
  EXPECT_TRUE(hides_processes(tree.root()));
  mount("rw,nosuid");
  EXPECT_FALSE(hides_processes(tree.root()));
  mount("rw,hidepid=invisible");
  tree.write("proc/1/stat", "1 (init) S 0");
  EXPECT_FALSE(hides_processes(tree.root())) << "root, and members of the group that gid= names, see all";
}

// cgroup v1 with the unified hierarchy for systemd's own use, which reports pressure.
TEST(Cgroup1, every_hierarchy_is_read) {
  const Tree tree;
  tree.processors(2, 1, 1);
  tree.times(2, 100, 100, 0);
  tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu");
  const auto write = [&](int ms) {
    for (const char* group : {"", "a/"}) {
      const auto file = [&](const std::string& folder, const char* name, const std::string& text) {
        tree.write("sys/fs/cgroup/" + folder + "/" + group + name, text);
      };
      const std::string ns = std::to_string(ms) + "000000", us = std::to_string(ms) + "000";
      file("cpuacct", "cpuacct.usage", ns);
      file("cpuacct", "cpuacct.usage_user", ns);
      file("cpuacct", "cpuacct.usage_sys", ns);
      file("cpu", "cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time " + ns);
      file("memory", "memory.usage_in_bytes", "4096");
      if (*group == 0) file("unified", "cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + us);
    }
  };
  write(0);
  tree.write("sys/fs/cgroup/unified/cgroup.controllers", "");
  Watcher watcher = open(tree, {Kind::group});
  write(1);
  const result::WatchTable table = watcher.next();
  const auto& root = row_of(table, Kind::group, "/");
  for (const Id id : {Id::user, Id::kernel, Id::throttled, Id::cpu_pressure}) EXPECT_GT(value(root, id).value_or(0), 0);
  EXPECT_DOUBLE_EQ(*value(root, Id::user) + *value(root, Id::kernel), *value(root, Id::util))
      << "files say twice as much: ticks against nanoseconds";
  const auto& inner = row_of(table, Kind::group, "/a");
  for (const Id id : {Id::user, Id::kernel, Id::throttled}) EXPECT_GT(value(inner, id).value_or(0), 0);
  EXPECT_EQ(reason(table, inner, Id::cpu_pressure), "cgroup-v1-pressure");
  EXPECT_EQ(reason(table, inner, Id::faults), "cgroup-v1-memory");
}

}  // namespace
}  // namespace tally::watch
