#include "tally/linux/process/announcements.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<Announcements> Announcements::make() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_failure(Code::cannot_measure, "cannot create the engine's socket (socketpair)");
  }
  Announcements made;
  made.ours_ = Descriptor(ends[0]);
  made.theirs_ = Descriptor(ends[1]);
  const int on = 1;
  setsockopt(made.ours_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return made;
}

namespace {

/// Reads the control data of a message: the sender, and the first descriptor. Closes any others.
std::optional<pid_t> read_control(msghdr& header, Descriptor& file) {
  std::optional<pid_t> sender;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    const auto* const data = reinterpret_cast<const char*>(CMSG_DATA(c));
    if (c->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::copy_n(data, sizeof credentials, reinterpret_cast<char*>(&credentials));
      sender = credentials.pid;
    } else if (c->cmsg_type == SCM_RIGHTS) {
      const std::size_t bytes = c->cmsg_len - CMSG_LEN(0);
      for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
        int fd = -1;
        std::copy_n(data + at, sizeof fd, reinterpret_cast<char*>(&fd));
        Descriptor received(fd);
        if (!file) file = std::move(received);
      }
    }
  }
  return sender;
}

}  // namespace

std::optional<pid_t> Announcements::receive(void* message, std::size_t bytes, Descriptor& file) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))> control{};
  iovec part{message, bytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  while (true) {
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    file.reset();
    const ssize_t n = retry([&] { return recvmsg(ours_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
    if (n == 0) open_ = false;
    if (n <= 0) return std::nullopt;
    const auto sender = read_control(header, file);
    if (static_cast<std::size_t>(n) == bytes && sender) return sender;
  }
}

bool announce(int fd, const void* message, std::size_t bytes) noexcept {
  return send(fd, message, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

pid_t own_pid() noexcept { return getpid(); }

std::optional<pid_t> thread_of(pid_t process, pid_t pid, pid_t tid) {
  if (pid == tid) return process;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("NSpid:")) continue;
      if (std::atoi(line.c_str() + line.rfind('\t') + 1) == tid) return std::atoi(entry.path().filename().c_str());
    }
  }
  return std::nullopt;
}

void wait_readable(std::array<int, 3> descriptors, int milliseconds) {
  std::array<pollfd, 3> waited{};
  std::transform(descriptors.begin(), descriptors.end(), waited.begin(), [](int fd) { return pollfd{fd, POLLIN, 0}; });
  poll(waited.data(), waited.size(), milliseconds);
}

}  // namespace tally::linux
