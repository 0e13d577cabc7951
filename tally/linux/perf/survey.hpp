// What the files of a system say about counting on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/machine/machine.hpp"

namespace tally::linux {

/// A PMU of the processor's cores, as sysfs shows it.
struct CorePmu {
  std::string name;                        ///< "cpu", "cpu_core", "armv8_pmuv3_0"
  std::optional<std::uint32_t> type;       ///< what perf_event_open calls it
  std::string cpus;                        ///< the processors that it counts on, "0-7"; empty: all
  std::optional<std::int64_t> user_reads;  ///< its file `rdpmc`: 0 off, 1 for tasks that count, 2 for everybody; x86
  bool operator==(const CorePmu&) const = default;
};

/// How the firmware calls the machine (DMI, ACPI). Empty where it does not say, or not to this user.
struct Firmware {
  std::string vendor;         ///< sys_vendor: "QEMU"
  std::string product;        ///< product_name: "KVM", "c5.metal"
  std::string bios_vendor;    ///< "Amazon EC2"
  std::string bios_version;   ///< "4.11.amazon"
  std::string chassis_asset;  ///< chassis_asset_tag
  std::string board;     ///< of a device tree: "linux,dummy-virt", and what serves its firmware: "qemu,fw-cfg-mmio"
  std::string acpi_oem;  ///< who made the ACPI tables: "FIRECK". Only root may read it
  bool operator==(const Firmware&) const = default;
};

/// What there is to count with, and who may. Empty where the system does not say.
struct Survey {
  Machine machine;
  bool lists_pmus = false;              ///< there is /sys/bus/event_source/devices
  std::vector<CorePmu> core_pmus;       ///< those of the processor, by name
  std::vector<std::string> other_pmus;  ///< everything else that the kernel counts with
  Firmware firmware;
  std::string kernel_version;                      ///< /proc/version
  std::string xen_pmu_mode;                        ///< /sys/hypervisor/pmu/pmu_mode
  std::string online;                              ///< processors, "0-7"
  std::string allowed;                             ///< processors that this process may run on
  std::optional<int> seccomp;                      ///< of this process: 0 none, 1 strict, 2 a filter
  std::optional<std::uint64_t> capabilities;       ///< effective ones, a bit for each (capabilities(7))
  std::optional<std::int64_t> open_files;          ///< that this process may have (RLIMIT_NOFILE)
  std::optional<std::int64_t> open_files_at_most;  ///< to which it may raise that itself
  std::optional<std::int64_t> locked_bytes;  ///< of memory that it may lock (RLIMIT_MEMLOCK); −1: as much as it wants
  std::optional<std::int64_t> nmi_watchdog;  ///< 1: it holds a counter of each processor
  std::int64_t page_bytes = 4096;            ///< of memory
  std::optional<std::int64_t> mlock_kb;      ///< perf_event_mlock_kb
  std::optional<std::int64_t> perf_user_access;   ///< arm64: whether programs may read counters themselves
  std::optional<std::int64_t> yama_ptrace_scope;  ///< who may trace whom; nothing: no Yama, or hidden
  std::string container;  ///< what left traces of a container here: "docker", "podman", "lxc"; also in images of one
  std::string container_trace;  ///< the file that says so
  std::string clocksource;      ///< what the kernel takes the time from
  bool operator==(const Survey&) const = default;
};

/// The bits of Survey::capabilities that perf_event_open looks at (linux/capability.h).
inline constexpr int cap_ipc_lock = 14;
inline constexpr int cap_sys_admin = 21;
inline constexpr int cap_perfmon = 38;

/// Whether an effective capability is known to be there.
bool has_capability(const Survey& survey, int bit);

/// Reads the files under `root` (tests give a tree of their own). Cost: some forty small files.
Survey read_counting(const std::string& root = "/");

}  // namespace tally::linux
