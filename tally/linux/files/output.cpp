#include "tally/linux/files/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tally/linux/system.hpp"

namespace tally::linux {

void reserve_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) continue;
    // The lowest free number is this one. Read-only: a write to it must fail, not vanish.
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) != fd) return;
  }
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat a {};
  struct stat b {};
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

Result<Output> Output::open_file(const std::string& path) { return open(path, false); }

Result<Output> Output::open_to_append(const std::string& path) { return open(path, true); }

Result<Output> Output::open(const std::string& path, bool append) {
  // To append, the file is read before: it must go on as it begins.
  const int flags = (append ? O_RDWR | O_APPEND : O_WRONLY) | O_CREAT | O_CLOEXEC | O_NOCTTY;
  constexpr mode_t mode = 0666;
  bool created = true;
  int fd = retry([&] { return ::open(path.c_str(), flags | O_EXCL, mode); });
  if (fd < 0 && errno == EEXIST) {
    created = false;
    fd = retry([&] { return ::open(path.c_str(), flags, mode); });
  }
  if (fd < 0) return system_failure(Code::cannot_write, fmt::format("cannot write the results to '{}'", path));
  Output output(fd, "'" + path + "'");
  output.owned_ = Descriptor(fd);
  output.append_ = append;
  output.path_ = path;
  output.remove_unless_written_ = created;
  return output;
}

Output Output::standard_output() { return {STDOUT_FILENO, "standard output"}; }

Output Output::standard_error() { return {STDERR_FILENO, "standard error"}; }

Output::Output(Output&& other) noexcept
    : owned_(std::move(other.owned_)),
      fd_(other.fd_),
      name_(std::move(other.name_)),
      append_(other.append_),
      path_(std::move(other.path_)),
      remove_unless_written_(std::exchange(other.remove_unless_written_, false)),
      begun_(other.begun_) {}

Output::~Output() {
  if (remove_unless_written_) unlink(path_.c_str());
}

bool Output::is_terminal() const { return fd_ >= 0 && isatty(fd_) == 1; }

bool Output::is_file() const {
  struct stat status {};
  return owned_ && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

Result<std::string> Output::existing() const {
  std::string text;
  if (!is_file()) return text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = retry([&] { return pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size())); });
    if (size < 0) return system_failure(Code::cannot_write, fmt::format("cannot read {} to append to it", name_));
    if (size == 0) return text;
    text.append(buffer, static_cast<std::size_t>(size));
  }
}

Result<void> Output::make_again() {
  const std::string what = fmt::format("cannot write the results to {}, which was removed meanwhile", name_);
  // Rows that go on after others are nothing without them.
  if (append_) return fail(Code::cannot_write, what);
  const int fd =
      retry([&] { return ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode_t{0666}); });
  if (fd < 0) return system_failure(Code::cannot_write, what);
  owned_ = Descriptor(fd);
  fd_ = fd;
  return {};
}

Result<void> Output::write(std::string_view text) {
  const std::string what = fmt::format("cannot write the results to {}", name_);
  remove_unless_written_ = false;
  struct stat status {};
  const bool is_file = owned_ && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && status.st_nlink == 0) {
    if (auto made = make_again(); !made) return made;
  }
  if (is_file && !append_ && ftruncate(fd_, 0) != 0) return system_failure(Code::cannot_write, what);
  if (const auto written = write_all(text); !written) {
    // A half-written row would spoil the rows before it.
    if (is_file && append_) (void)!ftruncate(fd_, status.st_size);
    return fail(written.error());
  }
  if (!owned_) return {};
  // Some file systems tell of a full disk only here.
  if (close(owned_.release()) != 0) return system_failure(Code::cannot_write, what);
  return {};
}

Result<void> Output::add(std::string_view text) {
  if (!begun_) {
    begun_ = true;
    remove_unless_written_ = false;
    struct stat status {};
    const bool is_file = owned_ && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && status.st_nlink == 0) {
      if (auto made = make_again(); !made) return made;
    }
    if (is_file && !append_ && ftruncate(fd_, 0) != 0)
      return system_failure(Code::cannot_write, fmt::format("cannot write the results to {}", name_));
  }
  return write_all(text);
}

Result<void> Output::finish() {
  if (auto begun = add(""); !begun) return begun;
  if (owned_ && close(owned_.release()) != 0)
    return system_failure(Code::cannot_write, fmt::format("cannot write the results to {}", name_));
  return {};
}

Result<void> Output::write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size >= 0) {
      text.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN) {
      // A program that shares the terminal or pipe may have left it non-blocking.
      pollfd ready{fd_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return system_failure(Code::cannot_write, fmt::format("cannot write the results to {}", name_));
    }
  }
  return {};
}

}  // namespace tally::linux
