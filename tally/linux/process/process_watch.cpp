#include "tally/linux/process/process_watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr int poll_every_ms = 100;

bool has_ended(int descriptor) {
  pollfd one{descriptor, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

}  // namespace

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (const auto number = parse_integer(entry->path().filename().string())) {
      threads.push_back(static_cast<pid_t>(*number));
    }
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}

bool is_process_alive(pid_t process) {
  const std::vector<pid_t> threads = threads_of(process);
  return std::any_of(threads.begin(), threads.end(), is_alive);
}

Error not_alive(const char* what, pid_t number) {
  const std::string name = fmt::format("{} {}", what, number);
  errno = 0;
  if (content("/proc/self/stat").empty())
    return {Code::cannot_measure, fmt::format("cannot read /proc to find {}: {}", name, errno_text(errno)),
            errno == EMFILE ? "" : "mount /proc, as root: mount -t proc proc /proc", errno};
  if (!content(fmt::format("/proc/{}/stat", number)).empty())
    return {Code::cannot_measure, fmt::format("the {} has ended: it is a zombie and executes nothing", name),
            "its parent has not waited for it yet", ESRCH};
  if (kill(number, 0) != 0 && errno == EPERM)
    return {Code::cannot_measure, fmt::format("/proc hides the {} of another user", name),
            "it is mounted with hidepid; run tally as root or as that user", ESRCH};
  return {Code::cannot_measure, fmt::format("there is no {}", name), "`ps -e` lists processes", ESRCH};
}

std::string children_left_out(const std::vector<pid_t>& processes) {
  std::vector<std::string> left_out, parents;
  for (const pid_t process : processes) {
    const std::size_t before = left_out.size();
    for (const pid_t thread : threads_of(process)) {
      for (std::string& word : split(content(fmt::format("/proc/{}/task/{}/children", process, thread)), ' ')) {
        const auto child = parse_integer(word);
        if (child && is_process_alive(static_cast<pid_t>(*child)) &&
            std::find(processes.begin(), processes.end(), *child) == processes.end())
          left_out.push_back(std::move(word));
      }
    }
    if (left_out.size() > before) parents.push_back(std::to_string(process));
  }
  if (left_out.empty()) return {};
  const std::string of = join(parents, ",");
  return fmt::format("not included: {} that {} started before: `-p {},$(pgrep -d, -P {})` adds them",
                     plural(static_cast<std::int64_t>(left_out.size()), "process", "processes"), of, of, of);
}

// Tests PF_KTHREAD (include/linux/sched.h) in the field `flags` of /proc/PID/stat: the ninth field in proc(5), the
// seventh after the name.
bool is_kernel_thread(pid_t thread) {
  constexpr std::uint64_t kernel_thread = 0x200000;
  const std::string stat = content("/proc/" + std::to_string(thread) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return false;
  const std::vector<std::string> words = split(stat.substr(name_end + 1), ' ');
  return words.size() > 7 && (std::strtoull(words[7].c_str(), nullptr, 10) & kernel_thread) != 0;
}

ProcessWatch::ProcessWatch(const std::vector<pid_t>& processes, const std::vector<pid_t>& threads) {
  for (const pid_t process : processes) add(process);
  for (const pid_t thread : threads) all_.push_back({thread, Descriptor()});
}

void ProcessWatch::add(pid_t process) {
  all_.push_back({process, Descriptor(static_cast<int>(syscall(SYS_pidfd_open, process, 0)))});
}

bool ProcessWatch::any() {
  std::erase_if(all_, [](const Watched& one) {
    return one.descriptor ? has_ended(one.descriptor.get()) : !is_alive(one.number);
  });
  return !all_.empty();
}

void ProcessWatch::wait(const std::vector<int>& descriptors, int milliseconds) const {
  std::vector<pollfd> waited;
  for (const int descriptor : descriptors) waited.push_back({descriptor, POLLIN, 0});
  const std::size_t others = waited.size();
  for (const Watched& one : all_) {
    if (one.descriptor) waited.push_back({one.descriptor.get(), POLLIN, 0});
  }
  const bool has_polled = waited.size() - others < all_.size();
  if (has_polled) milliseconds = milliseconds < 0 ? poll_every_ms : std::min(milliseconds, poll_every_ms);
  poll(waited.data(), waited.size(), milliseconds);
}

}  // namespace tally::linux
