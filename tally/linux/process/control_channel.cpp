#include "tally/linux/process/control_channel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr const char* example = "for example: --control fd:10,11 or --control fifo:commands,answers";

Result<int> open_descriptor(const std::string& text) {
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > INT_MAX)
    return fail(Code::bad_usage, fmt::format("--control: '{}' is not a file descriptor", printable(text)), example);
  const int fd = static_cast<int>(*number);
  if (fcntl(fd, F_GETFD) < 0)
    return fail(Code::bad_usage, fmt::format("--control: file descriptor {} is not open", fd),
                "the program that starts tally must leave it open");
  return fd;
}

/// Opens both ends, so that the channel outlives each sender, and opening waits for none.
Result<Descriptor> open_fifo(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file) return system_failure(Code::bad_usage, fmt::format("--control: cannot open '{}'", printable(path)));
  struct stat kind {};
  if (fstat(file.get(), &kind) != 0 || !S_ISFIFO(kind.st_mode))
    return fail(Code::bad_usage, fmt::format("--control: '{}' is not a named pipe", printable(path)),
                "make it with mkfifo");
  return file;
}

}  // namespace

Result<ControlChannel> ControlChannel::open(const std::string& text) {
  const bool is_fifo = text.starts_with("fifo:");
  if (!is_fifo && !text.starts_with("fd:"))
    return fail(Code::bad_usage, fmt::format("--control: '{}' begins with neither fd: nor fifo:", printable(text)),
                example);
  const std::vector<std::string> parts = split(text.substr(text.find(':') + 1), ',');
  if (parts.size() > 2) return fail(Code::bad_usage, "--control: more than two descriptors or named pipes", example);
  ControlChannel made;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    int& fd = i == 0 ? made.commands_ : made.answers_;
    if (is_fifo) {
      auto file = open_fifo(parts[i]);
      if (!file) return fail(file.error());
      made.owned_[i] = std::move(*file);
      fd = made.owned_[i].get();
    } else {
      const auto number = open_descriptor(parts[i]);
      if (!number) return fail(number.error());
      fd = *number;
    }
  }
  return made;
}

std::vector<std::string> ControlChannel::take() {
  std::vector<std::string> commands;
  while (!ended_) {
    pollfd waited{commands_, POLLIN, 0};
    if (poll(&waited, 1, 0) <= 0) break;
    char text[256];
    const ssize_t bytes = read(commands_, text, sizeof text);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) break;
    if (bytes <= 0) {
      ended_ = true;
      break;
    }
    for (const char c : std::string_view(text, static_cast<std::size_t>(bytes))) {
      constexpr std::size_t longest = 4096;
      if (c != '\n' && c != '\0') {
        if (begun_.size() < longest) begun_ += c;
      } else if (!begun_.empty()) {
        commands.push_back(std::exchange(begun_, {}));
      }
    }
  }
  return commands;
}

void ControlChannel::acknowledge() const {
  if (answers_ < 0) return;
  // perf sends the zero byte, too.
  constexpr char answer[] = "ack\n";
  (void)!write(answers_, answer, sizeof answer);
}

}  // namespace tally::linux
