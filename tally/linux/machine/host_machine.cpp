#include "tally/linux/machine/host_machine.hpp"

#include <filesystem>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> core_pmus(const std::string& root) {
  std::vector<std::string> names;
  for (std::string& name : pmu_names(root)) {
    if (is_core_pmu(root, name)) names.push_back(std::move(name));
  }
  return names;
}

constexpr const char* architecture =
#if defined(__x86_64__)
    "x86_64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "";
#endif

}  // namespace

HostMachine read_host_machine(const std::string& root) {
  const fs::path base(root);
  const std::string cpuinfo = content(base / "proc/cpuinfo");
  const std::string flags = value_of(cpuinfo, "flags");
  HostMachine machine;
  machine.cpu = value_of(cpuinfo, "model name");
  // Exists since Linux 6.1.
  machine.architecture = content(base / "proc/sys/kernel/arch");
  if (machine.architecture.empty()) machine.architecture = architecture;
  machine.kernel = content(base / "proc/sys/kernel/osrelease");
  machine.microcode = value_of(cpuinfo, "microcode");
  if (!flags.empty()) machine.hypervisor = (" " + flags + " ").find(" hypervisor ") != std::string::npos;
  machine.perf_event_paranoid = parse_integer(content(base / "proc/sys/kernel/perf_event_paranoid"));
  machine.governor = content(base / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.pmus = core_pmus(root);
  return machine;
}

std::string host_name() { return content("/proc/sys/kernel/hostname"); }

}  // namespace tally::linux
