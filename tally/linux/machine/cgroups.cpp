#include "tally/linux/machine/cgroups.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tally/core/base/text.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Returns the mount point of the hierarchy that perf uses: that of cgroup v1's perf_event controller if mounted, else
// cgroup v2.
std::string hierarchy() {
  std::string unified;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string device, folder, type, options;
    fields >> device >> folder >> type >> options;
    const std::vector<std::string> all = split(options, ',');
    if (type == "cgroup" && std::find(all.begin(), all.end(), "perf_event") != all.end()) return folder;
    if (type == "cgroup2" && unified.empty()) unified = folder;
  }
  return unified;
}

}  // namespace

Result<Descriptor> open_cgroup(const std::string& path) {
  const std::string root = hierarchy();
  if (root.empty()) {
    return fail(Code::cannot_measure, "no control group hierarchy is mounted",
                "as root: mount -t cgroup2 none /sys/fs/cgroup");
  }
  const bool is_full = path == root || path.starts_with(root + "/");
  const std::string folder = is_full ? path : root + "/" + path;
  Descriptor group(retry([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!group) {
    return system_failure(Code::cannot_measure, fmt::format("cannot open the control group '{}'", printable(folder)),
                          fmt::format("groups are the directories below {}", root));
  }
  return group;
}

}  // namespace tally::linux
