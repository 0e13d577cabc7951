#include "programs/linux/daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/process_watch.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// Content of the pipe: one of these letters, and for an error its two texts, each followed by a zero byte.
constexpr char is_ready = 'r';
constexpr char is_error = 'e';

void write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto written = retry([&] { return write(fd, text.data() + done, text.size() - done); });
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int fd) {
  std::string text;
  char chunk[512];
  while (true) {
    const auto size = retry([&] { return read(fd, chunk, sizeof chunk); });
    if (size <= 0) return text;
    text.append(chunk, static_cast<std::size_t>(size));
  }
}

void close_all_but(int kept) {
  for (const std::string& name : folder_entries("/proc/self/fd")) {
    const auto number = parse_integer(name);
    if (number && *number > 2 && *number != kept) close(static_cast<int>(*number));
  }
}

void turn_away_from_terminal(const char* name) {
  setsid();
  (void)!chdir("/");
  const int null = open("/dev/null", O_RDWR);
  for (int i = 0; i <= 2; ++i) dup2(null, i);
  if (null > 2) close(null);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_NAME, name);
  // It may open many files for each CPU.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
}

Descriptor signals_that_end() {
  sigset_t asked;
  sigemptyset(&asked);
  for (const int one : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) sigaddset(&asked, one);
  sigprocmask(SIG_BLOCK, &asked, nullptr);
  return Descriptor(signalfd(-1, &asked, SFD_CLOEXEC));
}

void wait_for_end(const ProcessIdentity& process) {
  ProcessWatch living({process.number}, {});
  if (!lives(process)) return;
  while (living.any()) living.wait(-1, -1);
}

// Never returns to the caller's code, not even by an exception.
[[noreturn]] void live(const char* name, Descriptor report,
                       const std::function<Result<void>(Staying&)>& life) noexcept {
  // Blocked before another process can know this one.
  Descriptor signals = signals_that_end();
  turn_away_from_terminal(name);
  const bool can_be_ended = static_cast<bool>(signals);
  Staying staying(std::move(report), std::move(signals));
  const Result<void> lived = can_be_ended ? life(staying) : fail(Code::cannot_measure, "cannot create a signalfd");
  if (!lived) staying.failed(lived.error());
  _exit(lived ? 0 : 1);
}

}  // namespace

ProcessIdentity identity_of(pid_t process) {
  const std::string stat = content(fmt::format("/proc/{}/stat", process));
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {process, 0};
  const std::vector<std::string> words = split(stat.substr(name_end + 1), ' ');
  return {process, words.size() > 20 ? std::strtoull(words[20].c_str(), nullptr, 10) : 0};
}

bool lives(const ProcessIdentity& process) {
  return process.started != 0 && is_alive(process.number) && identity_of(process.number) == process;
}

Result<void> end_and_wait(const ProcessIdentity& process) {
  ProcessWatch living({process.number}, {});
  if (!lives(process)) return {};
  if (kill(process.number, SIGTERM) != 0) {
    return system_failure(Code::cannot_measure, fmt::format("cannot send process {} a signal to end", process.number));
  }
  while (living.any()) living.wait(-1, -1);
  return {};
}

bool Staying::ready() {
  const auto written = retry([&] { return write(report_.get(), &is_ready, 1); });
  report_.reset();
  return written == 1;
}

void Staying::failed(const Error& error) {
  if (report_) write_all(report_.get(), is_error + error.message + '\0' + error.hint + '\0');
}

bool Staying::asked_to_end(int milliseconds) const {
  pollfd one{signals_.get(), POLLIN, 0};
  return retry([&] { return poll(&one, 1, milliseconds); }) != 0;
}

Result<pid_t> start_daemon(const char* name, const std::function<Result<void>(Staying&)>& life) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure(Code::cannot_measure, "cannot create a pipe");
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t between = fork();
  if (between < 0) return system_failure(Code::cannot_measure, "cannot create a process");
  if (between == 0) {
    // The daemon's parent ends at once, so the process that adopts orphans will reap the daemon.
    const pid_t staying = fork();
    if (staying != 0) _exit(staying > 0 ? 0 : 1);
    close_all_but(theirs.get());
    const pid_t own = getpid();
    if (write(theirs.get(), &own, sizeof own) != sizeof own) _exit(1);
    live(name, std::move(theirs), life);
  }
  theirs.reset();
  int status = 0;
  retry([&] { return waitpid(between, &status, 0); });
  pid_t number = 0;
  if (retry([&] { return read(ours.get(), &number, sizeof number); }) == sizeof number) {
    const ProcessIdentity identity = identity_of(number);
    const std::string reported = read_all(ours.get());
    if (!reported.empty() && reported[0] == is_ready) return number;
    // Its files are closed shortly before it ends.
    wait_for_end(identity);
    const auto texts = split(std::string_view(reported).substr(std::min<std::size_t>(reported.size(), 1)), '\0');
    if (texts.size() == 3) return fail(Code::cannot_measure, texts[0], texts[1]);
  }
  return fail(Code::cannot_measure, fmt::format("the process '{}' ended before it was ready", name));
}

}  // namespace tally::linux
