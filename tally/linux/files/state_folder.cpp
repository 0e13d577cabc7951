#include "tally/linux/files/state_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/new_file.hpp"
#include "tally/linux/files/trusted_folder.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

bool is_own_alone(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

}  // namespace

Result<StateFolder> StateFolder::open(const std::string& path, bool make) {
  auto folder = open_trusted_folder(path, make);
  if (folder) return StateFolder(*std::move(folder));
  const std::string& why = folder.error().message;
  return fail(Code::cannot_measure, fmt::format("tally does not store anything in '{}': {}", printable(path),
                                                why.empty() ? "it does not exist" : why));
}

std::optional<std::string> StateFolder::read(const std::string& name, std::uint64_t most_bytes) const {
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  const Descriptor file(openat(folder_.get(), name.c_str(), flags));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_own_alone(s)) return std::nullopt;
  if (static_cast<std::uint64_t>(s.st_size) > most_bytes) return std::nullopt;
  std::string text(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = retry([&] { return ::read(file.get(), text.data() + done, text.size() - done); });
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return text;
}

Result<void> StateFolder::write(const std::string& name, std::string_view text) const {
  auto file = NewFile::make(folder_.get(), name, 0600);
  if (!file) return fail(file.error());
  while (!text.empty()) {
    const ssize_t n = retry([&] { return ::write(file->fd(), text.data(), text.size()); });
    if (n < 0) return system_failure(Code::cannot_write, fmt::format("cannot write '{}'", printable(name)));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return file->publish();
}

}  // namespace tally::linux
