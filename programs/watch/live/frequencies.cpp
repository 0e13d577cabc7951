#include "programs/watch/live/frequencies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "programs/watch/live/sensors.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::watch {
namespace {

namespace fs = std::filesystem;

fs::path cpufreq(const std::string& root, int processor) {
  return fs::path(root) / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) / "cpufreq";
}

std::map<int, double> cpuinfo_frequencies(FolderFiles& root) {
  std::map<int, double> all;
  int processor = -1;
  for (const std::string& line : split(root.text("proc/cpuinfo"), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(line.substr(0, colon));
    const std::string value = trimmed(line.substr(colon + 1));
    if (key == "processor") processor = static_cast<int>(parse_integer(value).value_or(-1));
    if (key == "cpu MHz" && processor >= 0) all[processor] = std::strtod(value.c_str(), nullptr) * 1e6;
  }
  return all;
}

}  // namespace

FrequencySource frequency_source(const std::string& root, const std::vector<int>& processors) {
  for (const int processor : processors) {
    if (number_in(cpufreq(root, processor) / "scaling_cur_freq")) return FrequencySource::cpufreq;
  }
  const std::string cpuinfo = linux::content(fs::path(root) / "proc/cpuinfo");
  if (linux::value_of(cpuinfo, "cpu MHz").empty()) return FrequencySource::none;
  // arch/x86/kernel/cpu/aperfmperf.c: without the two registers the value is the frequency of the time-stamp counter.
  const auto flags = split(linux::value_of(cpuinfo, "flags"), ' ');
  return std::find(flags.begin(), flags.end(), "aperfmperf") != flags.end() ? FrequencySource::cpuinfo
                                                                            : FrequencySource::nominal;
}

std::map<int, double> frequencies(FrequencySource source, FolderFiles& root, const std::vector<int>& processors) {
  if (source == FrequencySource::cpuinfo) return cpuinfo_frequencies(root);
  std::map<int, double> all;
  if (source != FrequencySource::cpufreq) return all;
  for (const int processor : processors) {
    char name[96];
    *fmt::format_to_n(name, sizeof name - 1, "sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor).out =
        '\0';
    if (const auto khz = root.number(name)) all[processor] = static_cast<double>(*khz) * 1e3;
  }
  return all;
}

std::optional<double> base_frequency(const std::string& root) {
  const auto khz = number_in(cpufreq(root, 0) / "base_frequency");
  return khz ? std::optional<double>(static_cast<double>(*khz) * 1e3) : std::nullopt;
}

std::map<int, double> uncore_frequencies(const std::string& root) {
  std::map<int, double> all;
  const fs::path base = fs::path(root) / "sys/devices/system/cpu/intel_uncore_frequency";
  for (const std::string& folder : linux::folder_entries(base)) {
    // "package_01_die_00"
    if (!folder.starts_with("package_")) continue;
    const auto socket = parse_integer(folder.substr(8, folder.find('_', 8) - 8));
    const auto khz = number_in(base / folder / "current_freq_khz");
    if (!socket || !khz) continue;
    double& highest = all[static_cast<int>(*socket)];
    highest = std::max(highest, static_cast<double>(*khz) * 1e3);
  }
  return all;
}

}  // namespace tally::watch
