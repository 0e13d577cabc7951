#include "tally/linux/files/state_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/linux/files/new_file.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {
namespace {

constexpr int most_links = 40;  // as the kernel follows

bool others_write(const struct stat& s) { return (s.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

/// Whether nobody but this user and root can replace what is in this folder. In one with the sticky bit, as /tmp has
/// it, everybody may add names and nobody may take those of others away.
bool is_trusted_above(const struct stat& s) {
  return S_ISDIR(s.st_mode) && (s.st_uid == geteuid() || s.st_uid == 0) &&
         (!others_write(s) || (s.st_mode & S_ISVTX) != 0);
}

bool is_own_alone(const struct stat& s) { return s.st_uid == geteuid() && !others_write(s); }

std::deque<std::string> names_of(const std::string& path) {
  std::deque<std::string> names;
  for (std::string& name : split(path, '/'))
    if (!name.empty() && name != ".") names.push_back(std::move(name));
  return names;
}

/// Walks down a path, one name at a time.
class Walk {
 public:
  Walk(const std::string& path, bool make) : path_(path), make_(make), names_(names_of(path)) {}

  Result<Descriptor> to_end() {
    if (path_.empty() || path_.front() != '/') return untrusted("it is no path from the root on");
    if (auto at_root = begin(); !at_root) return fail(at_root.error());
    while (!names_.empty()) {
      const std::string name = std::move(names_.front());
      names_.pop_front();
      if (auto stepped = step(name); !stepped) return fail(stepped.error());
    }
    struct stat s {};
    if (fstat(at_.get(), &s) != 0 || !is_own_alone(s))
      return untrusted(fmt::format("it belongs to user {}, or others may write to it", s.st_uid));
    return std::move(at_);
  }

 private:
  Result<void> begin() {
    at_ = Descriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    return check("/");
  }

  Result<void> check(const std::string& name) {
    struct stat s {};
    if (at_ && fstat(at_.get(), &s) == 0 && is_trusted_above(s)) return {};
    return untrusted(fmt::format("'{}' belongs to user {}, or others may write to it", printable(name), s.st_uid));
  }

  Result<void> step(const std::string& name) {
    Descriptor next = open_name(name);
    if (!next && errno == ENOENT && make_ && mkdirat(at_.get(), name.c_str(), 0700) == 0) next = open_name(name);
    struct stat s {};
    if (!next || fstat(next.get(), &s) != 0)
      return system_failure(Code::cannot_measure, fmt::format("cannot use the folder '{}'", printable(path_)));
    if (S_ISLNK(s.st_mode)) return follow(next, s, name);
    at_ = std::move(next);
    return check(name);
  }

  Descriptor open_name(const std::string& name) const {
    return Descriptor(openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }

  Result<void> follow(const Descriptor& link, const struct stat& s, const std::string& name) {
    const bool is_last = names_.empty(), is_trusted = s.st_uid == geteuid() || s.st_uid == 0;
    if (is_last || !is_trusted || ++links_ > most_links)
      return untrusted(fmt::format("'{}' is a link", printable(name)));
    std::array<char, PATH_MAX> text{};
    const ssize_t size = readlinkat(link.get(), "", text.data(), text.size());
    if (size <= 0) return untrusted(fmt::format("'{}' is a link that cannot be read", printable(name)));
    const std::string to(text.data(), static_cast<std::size_t>(size));
    const auto behind = names_of(to);
    names_.insert(names_.begin(), behind.begin(), behind.end());
    return to.front() == '/' ? begin() : Result<void>{};
  }

  tl::unexpected<Error> untrusted(const std::string& why) const {
    return fail(Code::cannot_measure, fmt::format("tally keeps nothing in '{}': {}", printable(path_), why));
  }

  const std::string& path_;
  bool make_;
  std::deque<std::string> names_;
  Descriptor at_;
  int links_ = 0;
};

}  // namespace

Result<StateFolder> StateFolder::open(const std::string& path, bool make) {
  auto folder = Walk(path, make).to_end();
  if (!folder) return fail(folder.error());
  return StateFolder(*std::move(folder));
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
