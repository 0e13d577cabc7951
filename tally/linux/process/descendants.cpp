#include "tally/linux/process/descendants.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Returns the children of all threads: a child belongs to the thread that forked it.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) found.push_back(child);
  }
  return found;
}

bool has_child() {
  siginfo_t info{};
  return retry([&] { return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL); }) == 0;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

pid_t adopter_without_this() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 0;
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  const pid_t child = fork();
  if (child == 0) {
    const pid_t parent = getpid();
    if (fork() != 0) _exit(0);
    while (getppid() == parent) sched_yield();
    const pid_t adopter = getppid();
    _exit(write(ends[1], &adopter, sizeof adopter) == sizeof adopter ? 0 : 1);
  }
  if (child > 0) retry([&] { return waitpid(child, nullptr, 0); });
  adopt_orphans();
  write_end.reset();
  pid_t adopter = 0;
  return retry([&] { return read(ends[0], &adopter, sizeof adopter); }) == sizeof adopter ? adopter : 0;
}

Descendants::Descendants() : others_(has_child() ? children() : std::vector<pid_t>{}) {}

bool Descendants::include(pid_t process) const {
  return std::find(others_.begin(), others_.end(), process) == others_.end();
}

bool Descendants::any_left() const {
  if (!has_child()) return false;
  if (others_.empty()) return true;
  const std::vector<pid_t> left = children();
  return std::any_of(left.begin(), left.end(), [&](pid_t child) { return include(child); });
}

std::vector<std::string> Descendants::living() const {
  std::vector<std::string> names;
  for (const pid_t child : children()) {
    if (!include(child) || !is_alive(child)) continue;
    names.push_back(fmt::format("{} ({})", printable(content(fmt::format("/proc/{}/comm", child))), child));
  }
  return names;
}

}  // namespace tally::linux
