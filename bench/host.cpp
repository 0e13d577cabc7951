#include "bench/host.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace bench {
namespace {

/// The value of a field of /proc/cpuinfo; empty if it is missing.
std::string cpuinfo(const std::string& field) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(field)) return line.substr(std::min(line.find(':') + 2, line.size()));
  }
  return "";
}

}  // namespace

std::string machine_line() {
  utsname names{};
  uname(&names);
  auto model = cpuinfo("model name");
  if (model.empty()) model = names.machine;
  const bool guest = (" " + cpuinfo("flags") + " ").find(" hypervisor ") != std::string::npos;
  return fmt::format("{}, {} CPUs{}, Linux {}", model, std::thread::hardware_concurrency(),
                     guest ? ", a virtual machine" : "", names.release);
}

std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0 ? program : "";
  const char* const set = std::getenv("PATH");
  std::stringstream folders(set != nullptr ? set : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::string path = folder + "/" + program; access(path.c_str(), X_OK) == 0) return path;
  return "";
}

}  // namespace bench
