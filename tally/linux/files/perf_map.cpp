#include "tally/linux/files/perf_map.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/interruption.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

// File times are those of the kernel's last tick, up to 10 ms ago.
constexpr Nanoseconds tick = std::chrono::milliseconds(20);

Nanoseconds time_of(const timespec& t) { return std::chrono::seconds(t.tv_sec) + Nanoseconds(t.tv_nsec); }

/// A running process.
struct MapWatch {
  uid_t user = 0;
  std::int64_t own_pid = 0;  // in its own PID namespace
};

std::optional<MapWatch> living(std::int64_t pid) {
  const std::string status = content(fmt::format("/proc/{}/status", pid));
  if (status.empty()) return std::nullopt;
  const std::string users = value_of(status, "Uid"), pids = value_of(status, "NSpid");
  const auto words = split(users, '\t');
  if (words.size() < 2) return std::nullopt;
  const auto user = parse_integer(words[1]), own = parse_integer(pids.substr(pids.rfind('\t') + 1));
  return MapWatch{static_cast<uid_t>(user.value_or(0)), own.value_or(pid)};
}

std::string refusal_of(const std::string& path, const struct stat& s, const std::optional<MapWatch>& process,
                       Nanoseconds not_before) {
  const auto no = [&](const std::string& why) {
    return fmt::format("ignoring '{}' of user {}: {}", path, s.st_uid, why);
  };
  if (S_ISLNK(s.st_mode)) return no("it is a link");
  if (!S_ISREG(s.st_mode)) return no("it is not a regular file");
  const bool is_of_process = process && s.st_uid == process->user;
  if (s.st_uid != geteuid() && s.st_uid != 0 && !is_of_process)
    return no("it belongs neither to you nor to root nor to the process");
  if ((s.st_mode & S_IWOTH) != 0) return no("everybody may write to it");
  if (time_of(s.st_mtim) + tick < not_before) return no("it is older than the process");
  if (static_cast<std::uint64_t>(s.st_size) > most_bytes) return no("it is larger than 1 GiB");
  return {};
}

std::string read_whole(int fd) {
  constexpr std::size_t chunk = 1 << 16;
  std::string text;
  while (text.size() < most_bytes && !is_interrupted()) {
    const std::size_t before = text.size();
    text.resize(before + chunk);
    const ssize_t n = retry([&] { return read(fd, text.data() + before, chunk); });
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n <= 0) break;
  }
  return text;
}

}  // namespace

std::optional<Nanoseconds> process_started(std::int64_t pid) {
  // Field 22 of proc_pid_stat(5), in ticks since boot; field 2, the name, may contain anything.
  const std::string text = content(fmt::format("/proc/{}/stat", pid));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return std::nullopt;
  const auto fields = split(text.substr(name_end + 2), ' ');
  constexpr std::size_t started = 22 - 3;
  const auto ticks = fields.size() > started ? parse_integer(fields[started]) : std::nullopt;
  timespec since_start{}, since_1970{};
  if (!ticks || clock_gettime(CLOCK_BOOTTIME, &since_start) != 0 || clock_gettime(CLOCK_REALTIME, &since_1970) != 0)
    return std::nullopt;
  return time_of(since_1970) - time_of(since_start) + Nanoseconds(*ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK)));
}

namespace {

// `shown`: the directory as it is printed.
PerfMap read_file(const MapOf& of, const std::optional<MapWatch>& process, const std::string& folder,
                  const std::string& shown, const std::string& name) {
  PerfMap map;
  const Descriptor opened(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat s {};
  if (!opened || fstatat(opened.get(), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return map;
  const std::string path = shown + "/" + name;
  if (of.other_pids) {
    map.refused =
        fmt::format("ignoring '{}' of user {}: the process has this ID in another PID namespace", path, s.st_uid);
    return map;
  }
  Nanoseconds not_before = of.not_before;
  if (const auto started = process ? process_started(of.pid) : std::nullopt) not_before = *started;
  map.refused = refusal_of(path, s, process, not_before);
  if (!map.refused.empty()) return map;
  const Descriptor file(openat(opened.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  // The name may lead to another file by now.
  if (!file || fstat(file.get(), &s) != 0) return map;
  map.refused = refusal_of(path, s, process, not_before);
  if (map.refused.empty()) map.text = read_whole(file.get());
  return map;
}

std::int64_t own_pid(const MapOf& of, const std::optional<MapWatch>& process) {
  return process ? process->own_pid : of.pid;
}

// The directories below ~/.debug/jit, one for each program; the newest last.
std::vector<std::string> dump_folders() {
  const char* const chosen = secure_getenv("JITDUMPDIR");
  const char* const home = chosen != nullptr ? chosen : secure_getenv("HOME");
  std::vector<std::string> folders;
  if (home == nullptr) return folders;
  std::error_code error;
  const std::filesystem::path all = std::filesystem::path(home) / ".debug" / "jit";
  for (std::filesystem::directory_iterator one(all, error), end; !error && one != end; one.increment(error))
    folders.push_back(one->path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

PerfMap read_perf_map(const MapOf& of) {
  const auto process = of.other_pids ? std::nullopt : living(of.pid);
  // A container has its own /tmp and its own process IDs.
  const std::string folder = process ? fmt::format("/proc/{}/root/tmp", of.pid) : "/tmp";
  return read_file(of, process, folder, "/tmp", fmt::format("perf-{}.map", own_pid(of, process)));
}

PerfMap read_jit_dump(const MapOf& of) {
  const auto process = of.other_pids ? std::nullopt : living(of.pid);
  const std::int64_t pid = own_pid(of, process);
  const std::string name = fmt::format("jit-{}.dump", pid);
  std::vector<std::string> folders = dump_folders();
  folders.push_back(process ? fmt::format("/proc/{}/root/tmp", of.pid) : "/tmp");
  folders.push_back(process ? fmt::format("/proc/{}/cwd", of.pid) : ".");
  PerfMap refused;
  for (; !folders.empty(); folders.pop_back()) {
    const std::string& folder = folders.back();
    PerfMap map = read_file(of, process, folder, folder, name);
    map.pid = pid;
    if (!map.text.empty()) return map;
    if (refused.refused.empty()) refused = std::move(map);
  }
  return refused;
}

}  // namespace tally::linux
