// Reads from the system's files what counting on it requires.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/machine/host_machine.hpp"

namespace tally::linux {

/// A PMU of the processor's cores, from sysfs.
struct CorePmu {
  std::string name;                        ///< "cpu", "cpu_core", "armv8_pmuv3_0"
  std::optional<std::uint32_t> type;       ///< type of perf_event_open
  std::string cpus;                        ///< CPUs that it counts on, "0-7"; empty: all
  std::optional<std::int64_t> user_reads;  ///< its file `rdpmc`: 0 off, 1 for tasks that count, 2 for all; x86
  bool operator==(const CorePmu&) const = default;
};

/// Names of the machine in its firmware (DMI, ACPI). Empty if unavailable, or not readable by this user.
struct Firmware {
  std::string vendor;         ///< sys_vendor: "QEMU"
  std::string product;        ///< product_name: "KVM", "c5.metal"
  std::string bios_vendor;    ///< "Amazon EC2"
  std::string bios_version;   ///< "4.11.amazon"
  std::string chassis_asset;  ///< chassis_asset_tag
  std::string board;          ///< of a device tree: "linux,dummy-virt", and its firmware interface: "qemu,fw-cfg-mmio"
  std::string acpi_oem;       ///< maker of the ACPI tables: "FIRECK". Only root can read it
  bool operator==(const Firmware&) const = default;
};

/// Counters of the system, and permissions to use them. Empty if the system does not report it.
struct Survey {
  HostMachine machine;
  bool lists_pmus = false;              ///< /sys/bus/event_source/devices exists
  std::vector<CorePmu> core_pmus;       ///< those of the processor, by name
  std::vector<std::string> other_pmus;  ///< all other PMUs of the kernel
  Firmware firmware;
  std::string kernel_version;                      ///< /proc/version
  std::string xen_pmu_mode;                        ///< /sys/hypervisor/pmu/pmu_mode
  std::string online;                              ///< CPUs, "0-7"
  std::string allowed;                             ///< CPUs that this process may run on
  std::optional<int> seccomp;                      ///< of this process: 0 none, 1 strict, 2 a filter
  std::optional<std::uint64_t> capabilities;       ///< effective ones, one bit each (capabilities(7))
  std::optional<std::int64_t> open_files;          ///< limit of this process (RLIMIT_NOFILE)
  std::optional<std::int64_t> open_files_at_most;  ///< up to which it may raise that limit itself
  std::optional<std::int64_t> locked_bytes;        ///< of memory that it may lock (RLIMIT_MEMLOCK); −1: unlimited
  std::optional<std::int64_t> nmi_watchdog;        ///< 1: it uses a counter of each CPU
  std::int64_t page_bytes = 4096;                  ///< of memory
  std::optional<std::int64_t> mlock_kb;            ///< perf_event_mlock_kb
  std::optional<std::int64_t> perf_user_access;    ///< arm64: whether programs may read counters themselves
  std::optional<std::int64_t> yama_ptrace_scope;   ///< which processes may be traced; nothing: no Yama, or hidden
  std::string container;        ///< whose traces were found: "docker", "podman", "lxc"; also in images of containers
  std::string container_trace;  ///< the file that shows it
  std::string clocksource;      ///< the kernel's time source
  bool operator==(const Survey&) const = default;
};

/// Bits of Survey::capabilities that perf_event_open checks (linux/capability.h).
inline constexpr int cap_ipc_lock = 14;
inline constexpr int cap_sys_admin = 21;
inline constexpr int cap_perfmon = 38;

/// Whether the process is known to have an effective capability.
bool has_capability(const Survey& survey, int bit);

/// Reads the files under `root` (tests use their own tree). Cost: some forty small files.
Survey read_counting(const std::string& root = "/");

}  // namespace tally::linux
