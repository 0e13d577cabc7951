#include "tally/linux/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tally/base/text.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return trimmed(text.str());
}

// The first line "key : value" of a text like /proc/cpuinfo.
std::string value_of(const std::string& text, std::string_view key) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(std::string_view(line).substr(0, colon)) == key) {
      return trimmed(std::string_view(line).substr(colon + 1));
    }
  }
  return {};
}

// The kernel's names of units that count what a processor executes, not what happens around it.
bool is_processor_pmu(std::string_view name) {
  return name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv") || name.starts_with("apple_");
}

std::vector<std::string> processor_pmus(const fs::path& devices) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(devices, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_processor_pmu(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
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

Machine look_at_machine(const std::string& root) {
  const fs::path base(root);
  const std::string cpuinfo = content(base / "proc/cpuinfo");
  const std::string flags = value_of(cpuinfo, "flags");
  Machine machine;
  machine.cpu = value_of(cpuinfo, "model name");
  machine.architecture = architecture;
  machine.kernel = content(base / "proc/sys/kernel/osrelease");
  machine.microcode = value_of(cpuinfo, "microcode");
  if (!flags.empty()) machine.hypervisor = (" " + flags + " ").find(" hypervisor ") != std::string::npos;
  machine.perf_event_paranoid = parse_integer(content(base / "proc/sys/kernel/perf_event_paranoid"));
  machine.governor = content(base / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  machine.pmus = processor_pmus(base / "sys/bus/event_source/devices");
  return machine;
}

}  // namespace tally::linux
