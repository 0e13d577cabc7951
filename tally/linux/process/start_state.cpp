#include "tally/linux/process/start_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <memory>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/worker_thread.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

std::string working_directory() {
  std::array<char, PATH_MAX> path{};
  return getcwd(path.data(), path.size()) == nullptr ? "" : path.data();
}

void read_to_the_end(const Descriptor& pipe) {
  std::array<char, 1 << 16> bytes;
  while (retry([&] { return ::read(pipe.get(), bytes.data(), bytes.size()); }) > 0) {
  }
}

}  // namespace

std::string kind_of_stream(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return "closed";
  if (S_ISREG(status.st_mode)) return "file";
  if (S_ISFIFO(status.st_mode)) return "pipe";
  if (S_ISSOCK(status.st_mode)) return "socket";
  if (isatty(fd) == 1) return "terminal";
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3) ? "null" : "device";
}

StartState start_state() {
  StartState state{.directory = working_directory(), .environment = {}, .streams = {}};
  for (char** one = environ; *one != nullptr; ++one) state.environment.emplace_back(*one);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) state.streams.push_back(kind_of_stream(fd));
  return state;
}

Result<OtherStartState> OtherStartState::hold(const StartState& state, ReplayedInput* input) {
  OtherStartState held;
  held.directory_ = working_directory();
  held.own_environment_ = environ;
  held.output_ = Descriptor(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  held.error_ = Descriptor(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!state.directory.empty() && chdir(state.directory.c_str()) != 0)
    return system_failure(Code::cannot_measure,
                          fmt::format("cannot change to the directory '{}'", printable(state.directory)));
  held.words_ = state.environment;
  for (std::string& word : held.words_) held.environment_.push_back(word.data());
  held.environment_.push_back(nullptr);
  environ = held.environment_.data();
  (void)std::fflush(nullptr);
  if (input != nullptr) {
    held.input_ = Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    const Descriptor pipe = input->replay();
    if (!pipe || dup2(pipe.get(), STDIN_FILENO) < 0)
      return system_failure(Code::cannot_measure, "cannot replace standard input");
  }
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    const auto index = static_cast<std::size_t>(fd);
    if (auto replaced = held.replace(fd, index < state.streams.size() ? state.streams[index] : "null"); !replaced)
      return fail(replaced.error());
  }
  return held;
}

Result<void> OtherStartState::replace(int fd, const std::string& kind) {
  Descriptor made;
  if (kind == "file") {
    made = Descriptor(memfd_create("output", MFD_CLOEXEC));
  } else if (kind == "pipe") {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure(Code::cannot_measure, "cannot make a pipe");
    made = Descriptor(ends[1]);
    // It ends when the last process that has the pipe ends, which may be much later.
    worker_thread([end = std::make_shared<Descriptor>(ends[0])] { read_to_the_end(*end); }).detach();
  } else {
    made = Descriptor(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  }
  if (!made || dup2(made.get(), fd) < 0)
    return system_failure(Code::cannot_measure, "cannot replace a standard stream");
  return {};
}

OtherStartState::OtherStartState(OtherStartState&& other) noexcept
    : held_(std::exchange(other.held_, false)),
      directory_(std::move(other.directory_)),
      words_(std::move(other.words_)),
      environment_(std::move(other.environment_)),
      own_environment_(other.own_environment_),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      error_(std::move(other.error_)) {}

OtherStartState::~OtherStartState() {
  if (!held_) return;
  (void)std::fflush(nullptr);
  if (input_) (void)dup2(input_.get(), STDIN_FILENO);
  if (output_) (void)dup2(output_.get(), STDOUT_FILENO);
  if (error_) (void)dup2(error_.get(), STDERR_FILENO);
  environ = own_environment_;
  if (!directory_.empty() && chdir(directory_.c_str()) != 0) directory_.clear();
}

}  // namespace tally::linux
