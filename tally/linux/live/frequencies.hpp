// At what frequency processors run, where the kernel tells it in files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/live/folder_files.hpp"

namespace tally::linux {

/// Where the frequency of processors is told.
enum class FrequencySource {
  none,     ///< nowhere
  cpufreq,  ///< cpufreq/scaling_cur_freq: what the driver set, or measured over the last tick
  cpuinfo,  ///< /proc/cpuinfo's "cpu MHz", which the kernel measures by APERF and MPERF
  nominal,  ///< /proc/cpuinfo has a number, but nothing behind it measures: it never changes
};

/// Looks which it is. `root` is where proc/ and sys/ lie.
FrequencySource frequency_source(const std::string& root, const std::vector<int>& processors);

/// Hertz of each processor that tells them now, by that source; empty for `none` and `nominal`. `root` is open. Cost: a
/// file each for cpufreq, one for all else.
std::map<int, double> frequencies(FrequencySource source, FolderFiles& root, const std::vector<int>& processors);

/// Hertz that the makers call base frequency: cpufreq/base_frequency; nothing where the driver has none.
std::optional<double> base_frequency(const std::string& root);

/// Hertz of the uncore of each socket: intel_uncore_frequency/package_NN_die_NN/current_freq_khz, the highest of its
/// dies. Empty where there is no such driver.
std::map<int, double> uncore_frequencies(const std::string& root);

}  // namespace tally::linux
