// Reads the frequencies of CPUs from the kernel's files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/watch/live/folder_files.hpp"

namespace tally::watch {

/// The source of CPU frequencies.
enum class FrequencySource {
  none,     ///< no source
  cpufreq,  ///< cpufreq/scaling_cur_freq: what the driver set, or measured over the last tick
  cpuinfo,  ///< "cpu MHz" of /proc/cpuinfo, which the kernel measures with APERF and MPERF
  nominal,  ///< /proc/cpuinfo has a value that nothing measures: it never changes
};

/// Finds the source. `root`: the directory that contains proc/ and sys/.
FrequencySource frequency_source(const std::string& root, const std::vector<int>& processors);

/// Returns the current frequency in hertz of each CPU that this source covers; empty for `none` and `nominal`. `root`
/// is open. Cost: one file for each CPU with cpufreq, else one file.
std::map<int, double> frequencies(FrequencySource source, FolderFiles& root, const std::vector<int>& processors);

/// Returns the vendor's base frequency in hertz: cpufreq/base_frequency; nothing if the driver has none.
std::optional<double> base_frequency(const std::string& root);

/// Returns the uncore frequency in hertz of each socket: intel_uncore_frequency/package_NN_die_NN/current_freq_khz, the
/// highest of its dies. Empty without that driver.
std::map<int, double> uncore_frequencies(const std::string& root);

}  // namespace tally::watch
