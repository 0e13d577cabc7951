#include "tally/linux/files/trusted_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <vector>

#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

std::vector<std::string> components_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at && path.compare(at, end - at, ".") != 0) parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool is_trusted_owner(uid_t owner) { return owner == geteuid() || owner == 0; }

std::string belongs_to_other(const std::string& name, uid_t owner) {
  return fmt::format("{} belongs to user {}, and tally runs as user {}", name, owner, geteuid());
}

tl::unexpected<Error> refuse(const std::string& why) {
  return fail(why.empty() ? Code::not_found : Code::cannot_measure, why);
}

/// Opens one directory after the other, from the root down.
class Walk {
 public:
  explicit Walk(const std::string& path, bool make) : path_(path), make_(make), left_(components_of(path)) {}

  Result<Descriptor> walk() {
    at_ = Descriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!at_) return refuse("/: " + errno_text(errno));
    if (auto refused = check(false)) return refuse(*refused);
    for (int links = 0; !left_.empty();) {
      const std::string name = left_.front();
      left_.erase(left_.begin());
      if (auto refused = go_to(name, links)) return refuse(*refused);
    }
    Descriptor folder(openat(at_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return refuse(path_ + ": " + errno_text(errno));
    return folder;
  }

 private:
  using Refused = std::optional<std::string>;

  Refused go_to(const std::string& name, int& links) {
    const std::string reached = reached_ + "/" + name;
    Descriptor next = open_component(name);
    if (!next) return errno == ENOENT ? "" : reached + ": " + errno_text(errno);
    struct stat s {};
    if (fstat(next.get(), &s) != 0) return reached + ": " + errno_text(errno);
    if (S_ISLNK(s.st_mode)) {
      if (left_.empty() || ++links > 40) return reached + " is a link";
      if (!is_trusted_owner(s.st_uid)) return belongs_to_other(reached, s.st_uid);
      return follow(next, reached);
    }
    at_ = std::move(next);
    reached_ = reached;
    return check(left_.empty());
  }

  Descriptor open_component(const std::string& name) const {
    constexpr int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    Descriptor found(openat(at_.get(), name.c_str(), flags));
    // Only the last two are created.
    if (found || errno != ENOENT || !make_ || left_.size() > 1) return found;
    if (mkdirat(at_.get(), name.c_str(), 0700) != 0 && errno != EEXIST) return found;
    return Descriptor(openat(at_.get(), name.c_str(), flags));
  }

  Refused follow(const Descriptor& link, const std::string& reached) {
    char target[PATH_MAX];
    const ssize_t bytes = readlinkat(link.get(), "", target, sizeof target);
    if (bytes <= 0 || bytes == static_cast<ssize_t>(sizeof target)) return reached + " is a link";
    const std::string to(target, static_cast<std::size_t>(bytes));
    const auto parts = components_of(to);
    left_.insert(left_.begin(), parts.begin(), parts.end());
    if (to.front() != '/') return std::nullopt;
    at_ = Descriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    reached_.clear();
    return at_ ? Refused() : Refused("/: " + errno_text(errno));
  }

  /// Returns why the current directory cannot be trusted. `is_last`: it is the requested one.
  Refused check(bool is_last) const {
    const std::string name = reached_.empty() ? "/" : reached_;
    struct stat s {};
    if (fstat(at_.get(), &s) != 0) return name + ": " + errno_text(errno);
    if (!S_ISDIR(s.st_mode)) return name + " is not a directory";
    if (is_last ? s.st_uid != geteuid() : !is_trusted_owner(s.st_uid)) return belongs_to_other(name, s.st_uid);
    const bool others_write = (s.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (others_write && (is_last || (s.st_mode & S_ISVTX) == 0))
      return fmt::format("others may write {} (mode {:04o})", name, s.st_mode & 07777);
    return std::nullopt;
  }

  std::string path_, reached_;
  bool make_;
  std::vector<std::string> left_;
  Descriptor at_;
};

}  // namespace

Result<Descriptor> open_trusted_folder(const std::string& path, bool make) {
  if (path.empty() || path.front() != '/')
    return fail(Code::not_found, "there is no directory for files that tally keeps");
  return Walk(path, make).walk();
}

}  // namespace tally::linux
