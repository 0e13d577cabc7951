#include "programs/linux/survey.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number(const fs::path& path) { return parse_integer(content(path)); }

void read_pmus(const std::string& root, const fs::path& devices, Survey& survey) {
  std::error_code error;
  survey.lists_pmus = fs::is_directory(devices, error);
  for (const std::string& name : pmu_names(root)) {
    const auto device = pmu_device(root, name);
    if (!device || !device->is_core) {
      survey.other_pmus.push_back(name);
    } else {
      survey.core_pmus.push_back({name, device->type, device->cpus, number(devices / name / "rdpmc")});
    }
  }
}

// Bytes 10 to 15 of a table's header (ACPI specification, "System Description Table Header").
std::string acpi_oem(const fs::path& tables) {
  for (const char* table : {"FACP", "APIC", "DSDT"}) {
    const std::string bytes = content(tables / table, 16);
    if (bytes.size() != 16) continue;
    const std::string maker = bytes.substr(10, 6);
    return trimmed(printable(maker.substr(0, maker.find('\0'))));
  }
  return {};
}

// Lists of strings, each ending with a zero byte (Devicetree specification, "compatible").
std::string board(const fs::path& tree) {
  std::string names = content(tree / "compatible");
  for (const std::string& node : folder_entries(tree)) {
    if (node.starts_with("fw-cfg")) names += " " + content(tree / node / "compatible");
  }
  std::replace(names.begin(), names.end(), '\0', ' ');
  return join(split_words(names), ", ");
}

Firmware firmware(const fs::path& base) {
  const fs::path dmi = base / "sys/class/dmi/id";
  return {content(dmi / "sys_vendor"),
          content(dmi / "product_name"),
          content(dmi / "bios_vendor"),
          content(dmi / "bios_version"),
          content(dmi / "chassis_asset_tag"),
          board(base / "proc/device-tree"),
          acpi_oem(base / "sys/firmware/acpi/tables")};
}

void detect_container(const fs::path& base, Survey& survey) {
  const std::string manager = content(base / "run/systemd/container");
  std::error_code error;
  if (!manager.empty()) {
    survey.container = printable(manager);
    survey.container_trace = "/run/systemd/container";
  } else if (fs::exists(base / "run/.containerenv", error)) {
    survey.container = "podman";
    survey.container_trace = "/run/.containerenv";
  } else if (fs::exists(base / ".dockerenv", error)) {
    survey.container = "docker";
    survey.container_trace = "/.dockerenv";
  }
}

// "Max open files            1024                 1048576              files": the soft and the hard limit.
std::vector<std::string> limit(const std::string& limits, std::string_view name) {
  for (const std::string& line : split(limits, '\n')) {
    if (!line.starts_with(name)) continue;
    auto words = split_words(line.substr(name.size()));
    if (words.size() >= 2) return words;
  }
  return {"", ""};
}

void read_limits(const std::string& limits, Survey& survey) {
  const auto files = limit(limits, "Max open files");
  survey.open_files = parse_integer(files[0]);
  survey.open_files_at_most = parse_integer(files[1]);
  const auto locked = limit(limits, "Max locked memory");
  survey.locked_bytes = locked[0] == "unlimited" ? -1 : parse_integer(locked[0]);
}

void read_process(const fs::path& base, Survey& survey) {
  const std::string status = content(base / "proc/self/status");
  if (const auto mode = parse_integer(value_of(status, "Seccomp"))) survey.seccomp = static_cast<int>(*mode);
  if (const auto capabilities = parse_digits<std::uint64_t>(value_of(status, "CapEff"), 16))
    survey.capabilities = *capabilities;
  survey.allowed = value_of(status, "Cpus_allowed_list");
  read_limits(content(base / "proc/self/limits"), survey);
}

}  // namespace

bool has_capability(const Survey& survey, int bit) {
  return survey.capabilities && ((*survey.capabilities >> bit) & 1) != 0;
}

Survey read_counting(const std::string& root) {
  const fs::path base(root);
  const fs::path kernel = base / "proc/sys/kernel";
  Survey survey;
  survey.machine = read_host_machine(root);
  read_pmus(root, base / "sys/bus/event_source/devices", survey);
  survey.firmware = firmware(base);
  survey.kernel_version = content(base / "proc/version");
  survey.xen_pmu_mode = content(base / "sys/hypervisor/pmu/pmu_mode");
  survey.online = content(base / "sys/devices/system/cpu/online");
  survey.nmi_watchdog = number(kernel / "nmi_watchdog");
  survey.page_bytes = sysconf(_SC_PAGESIZE);
  survey.mlock_kb = number(kernel / "perf_event_mlock_kb");
  survey.perf_user_access = number(kernel / "perf_user_access");
  survey.yama_ptrace_scope = number(kernel / "yama/ptrace_scope");
  survey.clocksource = content(base / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  read_process(base, survey);
  detect_container(base, survey);
  return survey;
}

}  // namespace tally::linux
