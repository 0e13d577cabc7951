#include "tally/linux/files/cache_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/system.hpp"

namespace tally::linux {
namespace {

/// Only who owns it may write it: what is in there is executed.
bool is_private(const struct stat& s) { return s.st_uid == geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0; }

/// Whether what is made in there is safe from others: it is this user's own, or the system's.
bool is_trusted(const std::string& folder) {
  struct stat s {};
  return stat(folder.c_str(), &s) == 0 && (s.st_uid == geteuid() || s.st_uid == 0);
}

/// The folder, and the one above it, are made if need be. Under sudo with the user's HOME they are not root's: then
/// not.
bool make_folder(const std::string& path) {
  const std::filesystem::path above = std::filesystem::path(path).parent_path();
  struct stat s {};
  if (stat(above.c_str(), &s) != 0) {
    if (!is_trusted(above.parent_path()) || mkdir(above.c_str(), 0700) != 0) return false;
  }
  if (!is_trusted(above)) return false;
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  return lstat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode) && is_private(s);
}

/// A limit on the size of files is to be an error and no signal.
class WithoutSizeSignal {
 public:
  WithoutSizeSignal() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~WithoutSizeSignal() { sigaction(SIGXFSZ, &before_, nullptr); }
  WithoutSizeSignal(const WithoutSizeSignal&) = delete;
  WithoutSizeSignal& operator=(const WithoutSizeSignal&) = delete;

 private:
  struct sigaction before_ {};
};

struct Kept {
  std::string path, owner;
  std::pair<std::int64_t, std::int64_t> used;  // seconds, nanoseconds
  std::uint64_t bytes = 0;                     // of the disk
};

constexpr std::size_t owner_digits = 16;

/// Whether it is what name_cache_file links first, of a process that is gone.
bool is_left_over(const std::string& behind_owner) {
  const auto pid = behind_owner.starts_with('.') ? parse_integer(behind_owner.substr(1)) : std::nullopt;
  return pid && *pid > 0 && kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
}

std::vector<Kept> kept_files(const CacheFiles& files) {
  std::vector<Kept> kept;
  for (const std::string& name : folder_entries(files.folder)) {
    for (const std::string& prefix : files.prefixes) {
      if (!name.starts_with(prefix) || name.size() < prefix.size() + owner_digits) continue;
      const std::string owner = name.substr(prefix.size(), owner_digits);
      if (owner.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
      const std::string path = files.folder + "/" + name, behind = name.substr(prefix.size() + owner_digits);
      struct stat s {};
      if (lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
      // What describes the file takes space too, and is nobody's choice.
      const std::uint64_t bytes =
          std::min(static_cast<std::uint64_t>(s.st_blocks) * 512, static_cast<std::uint64_t>(s.st_size));
      if (behind.empty()) kept.push_back({path, owner, {s.st_mtim.tv_sec, s.st_mtim.tv_nsec}, bytes});
      if (is_left_over(behind)) unlink(path.c_str());
    }
  }
  return kept;
}

}  // namespace

std::string cache_folder() {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr && *value == '/' ? value : "");
  };
  if (std::getenv("TALLY_CACHE_DIR") != nullptr) return absolute("TALLY_CACHE_DIR");
  if (const std::string caches = absolute("XDG_CACHE_HOME"); !caches.empty()) return caches + "/tally";
  const std::string home = absolute("HOME");
  return home.empty() ? "" : home + "/.cache/tally";
}

std::optional<CacheFile> open_cache_file(const std::string& path, bool writes) {
  Descriptor file(open(path.c_str(), (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode) || !is_private(s)) return std::nullopt;
  return CacheFile{std::move(file), static_cast<std::uint64_t>(s.st_size), s.st_ino};
}

std::optional<CacheFile> make_cache_file(const std::string& folder, std::uint64_t bytes) {
  if (folder.empty() || !make_folder(folder)) return std::nullopt;
  Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const WithoutSizeSignal without;
  struct stat s {};
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || fstat(file.get(), &s) != 0) return std::nullopt;
  return CacheFile{std::move(file), bytes, s.st_ino};
}

bool name_cache_file(const CacheFile& file, const std::string& path) {
  // A link does not replace a name: under another one first.
  const std::string passing = fmt::format("{}.{}", path, getpid());
  const std::string from = fmt::format("/proc/self/fd/{}", file.file.get());
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, passing.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  if (rename(passing.c_str(), path.c_str()) == 0) return true;
  unlink(passing.c_str());
  return false;
}

bool has_space(const CacheFile& file, std::uint64_t offset, std::uint64_t bytes) {
  const WithoutSizeSignal without;
  return fallocate(file.file.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

bool take_cache_file(const CacheFile& file) { return flock(file.file.get(), LOCK_EX | LOCK_NB) == 0; }

void note_cache_file_used(const CacheFile& file) { (void)futimens(file.file.get(), nullptr); }

void bound_cache_files(const CacheFiles& files, const std::string& own, std::uint64_t most_bytes) {
  std::vector<Kept> kept = kept_files(files);
  // The own ones first, then as they were used.
  std::stable_sort(kept.begin(), kept.end(), [&](const Kept& a, const Kept& b) {
    const bool a_is_own = a.owner == own, b_is_own = b.owner == own;
    return a_is_own != b_is_own ? a_is_own : a.used > b.used;
  });
  const auto other = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.owner != own; });
  const std::string last_other = other == kept.end() ? "" : other->owner;
  std::uint64_t bytes = 0;
  for (const Kept& one : kept) {
    const bool stays = one.owner == own || one.owner == last_other;
    if (stays && bytes + one.bytes <= most_bytes) {
      bytes += one.bytes;
    } else {
      unlink(one.path.c_str());
    }
  }
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace tally::linux
