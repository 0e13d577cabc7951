#include "tally/linux/files/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/interruption.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

Input Input::read_position() {
  Input input;
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) return input;
  if (S_ISREG(status.st_mode)) {
    const off_t place = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (place >= 0) input.place_ = place;
  }
  if (S_ISFIFO(status.st_mode)) input.stream_ = "a pipe";
  if (S_ISSOCK(status.st_mode)) input.stream_ = "a socket";
  return input;
}

void Input::rewind() const {
  if (place_) (void)lseek(STDIN_FILENO, *place_, SEEK_SET);
}

namespace {

/// Whether reading ends: the kinds of files that a user may name. /dev/null is empty.
bool has_an_end(const struct stat& s, int fd) {
  return S_ISREG(s.st_mode) || S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode) ||
         (S_ISCHR(s.st_mode) && (isatty(fd) == 1 || s.st_rdev == makedev(1, 3)));
}

tl::unexpected<Error> cannot_read(const std::string& path) {
  return system_failure(Code::bad_usage, fmt::format("cannot read '{}'", printable(path)));
}

}  // namespace

Result<InputFile> InputFile::open_regular(const std::string& path) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  Descriptor file(unless_interrupted([&] { return ::open(path.c_str(), flags); }));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0) return cannot_read(path);
  if (!S_ISREG(s.st_mode))
    return fail(Code::bad_usage, fmt::format("cannot read '{}': it is not a regular file", printable(path)));
  return InputFile(std::move(file), path);
}

Result<InputFile> InputFile::open(const std::string& path) {
  // read() waits for the writer of a pipe.
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  Descriptor file(unless_interrupted([&] { return ::open(path.c_str(), flags); }));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0) return cannot_read(path);
  if (S_ISDIR(s.st_mode)) {
    errno = EISDIR;
    return cannot_read(path);
  }
  if (!has_an_end(s, file.get()))
    return fail(Code::bad_usage, fmt::format("cannot read '{}': it is not a regular file or pipe", printable(path)));
  return InputFile(std::move(file), path);
}

Result<std::size_t> InputFile::read(std::span<char> to) {
  // A signal may come just before a call that waits, so no call waits long.
  constexpr int moment_ms = 100;
  pollfd waiting{file_.get(), POLLIN, 0};
  ssize_t size = -1;
  do {
    if (is_interrupted()) {
      errno = EINTR;
      break;
    }
    errno = EAGAIN;
    if (poll(&waiting, 1, moment_ms) > 0) size = ::read(file_.get(), to.data(), to.size());
  } while (size < 0 && (errno == EINTR || errno == EAGAIN));
  if (size < 0) return cannot_read(path_);
  return static_cast<std::size_t>(size);
}

std::uint64_t InputFile::size() const {
  struct stat s {};
  return fstat(file_.get(), &s) == 0 && S_ISREG(s.st_mode) ? static_cast<std::uint64_t>(s.st_size) : 0;
}

namespace {

tl::unexpected<Error> too_large(const std::string& path, std::uint64_t most_bytes) {
  return fail(Code::bad_usage,
              fmt::format("cannot read '{}': it is larger than {} MiB", printable(path), most_bytes >> 20));
}

Result<std::string> read_whole(Result<InputFile> file, const std::string& path, std::uint64_t most_bytes) {
  if (!file) return fail(file.error());
  if (file->size() > most_bytes) return too_large(path, most_bytes);
  std::string text;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const auto size = file->read(buffer);
    if (!size) return fail(size.error());
    if (*size == 0) return text;
    if (text.size() + *size > most_bytes) return too_large(path, most_bytes);
    text.append(buffer.data(), *size);
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes) {
  return read_whole(InputFile::open(path), path, most_bytes);
}

Result<std::string> read_regular_file(const std::string& path, std::uint64_t most_bytes) {
  return read_whole(InputFile::open_regular(path), path, most_bytes);
}

}  // namespace tally::linux
