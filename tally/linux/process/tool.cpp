#include "tally/linux/process/tool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/noted_signal.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr std::size_t most_output = std::size_t{256} << 20;

/// Whether a signal asks tally to end: a pending one (they are blocked during a measurement) or a noted one.
bool is_asked_to_end() {
  if (noted_signal() != 0) return true;
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return false;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (sigismember(&waiting, signal) == 1) return true;
  return false;
}

/// The tool leads a process group of its own. No signal is blocked in it, and SIGPIPE has its default action, whatever
/// tally's settings are.
int start(const std::string& path, const std::vector<std::string>& command, const std::string& input, int output,
          pid_t& process) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, input.c_str(), O_RDONLY, 0);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) posix_spawn_file_actions_adddup2(&files, output, stream);
  sigset_t none, by_default;
  sigemptyset(&none);
  sigemptyset(&by_default);
  sigaddset(&by_default, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &by_default);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int why = posix_spawn(&process, path.c_str(), &files, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return why;
}

}  // namespace

Result<ToolEnd> run_tool(const std::vector<std::string>& command, std::optional<Nanoseconds> limit,
                         const std::string& input) {
  const auto path = find_program(command.front(), search_path());
  if (!path) return fail(path.error());
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return system_failure(Code::cannot_measure, "cannot start " + printable(command.front()));
  Descriptor from(ends[0]), to(ends[1]);
  pid_t process = 0;
  if (const int why = start(*path, command, input, to.get(), process); why != 0) {
    errno = why;
    return system_failure(Code::cannot_measure, "cannot start " + printable(command.front()));
  }
  to.reset();
  ToolEnd end;
  std::array<char, 1 << 16> part;
  Nanoseconds last = limit ? now() + *limit : Nanoseconds::max();
  int status = 0;
  bool has_ended = false;
  std::size_t drained = 0;  // after its end
  while (true) {
    constexpr int poll_each_ms = 100;
    constexpr std::size_t most_drained = std::size_t{1} << 20;  // the largest pipe
    pollfd waiting{from.get(), POLLIN, 0};
    poll(&waiting, 1, has_ended ? 0 : poll_each_ms);
    // Processes that it leaves running may keep its output open.
    if (has_ended && (waiting.revents == 0 || drained > most_drained)) break;
    if (!has_ended) has_ended = waitpid(process, &status, WNOHANG) == process;
    if (now() >= last || (!end.was_stopped && is_asked_to_end())) {
      // A tool that does not end within a second is killed below.
      if (end.was_stopped) break;
      for (const pid_t stopped : {process, -process}) kill(stopped, SIGTERM);
      end.was_stopped = true;
      end.timed_out = now() >= last;
      last = now() + std::chrono::seconds(1);
    }
    if (waiting.revents == 0) continue;
    const ssize_t got = retry([&] { return read(from.get(), part.data(), part.size()); });
    if (got <= 0) break;
    if (has_ended) drained += static_cast<std::size_t>(got);
    if (end.output.size() < most_output) end.output.append(part.data(), static_cast<std::size_t>(got));
  }
  // With what it started.
  if (end.was_stopped && !has_ended) kill(process, SIGKILL);
  if (end.was_stopped) kill(-process, SIGKILL);
  if (!has_ended && retry([&] { return waitpid(process, &status, 0); }) < 0)
    return system_failure(Code::cannot_measure, "cannot wait for " + printable(command.front()));
  end.exit_code = exit_of(status).code;
  return end;
}

}  // namespace tally::linux
