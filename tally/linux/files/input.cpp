#include "tally/linux/files/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tally/base/text.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {

Input Input::look() {
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

Result<InputFile> InputFile::open(const std::string& path) {
  Descriptor file(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!file) return system_failure(Code::bad_usage, fmt::format("cannot read '{}'", printable(path)));
  return InputFile(std::move(file), path);
}

Result<std::size_t> InputFile::read(std::span<char> to) {
  const ssize_t size = retry([&] { return ::read(file_.get(), to.data(), to.size()); });
  if (size < 0) return system_failure(Code::bad_usage, fmt::format("cannot read '{}'", printable(path_)));
  return static_cast<std::size_t>(size);
}

Result<std::string> read_file(const std::string& path) {
  auto file = InputFile::open(path);
  if (!file) return fail(file.error());
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const auto size = file->read(buffer);
    if (!size) return fail(size.error());
    if (*size == 0) return text;
    text.append(buffer, *size);
  }
}

}  // namespace tally::linux
