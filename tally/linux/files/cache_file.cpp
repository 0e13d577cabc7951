#include "tally/linux/files/cache_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/trusted_folder.hpp"
#include "tally/linux/size_limit.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

/// Maximum size of a remark; more than any remark needs.
constexpr std::size_t remark_bytes = 1000;
constexpr const char *key_name = "key", *remark_name = "remark";

/// Content of the key file.
struct StoredKey {
  std::uint64_t magic, version, bytes;
  CacheKey key;
};
constexpr std::uint64_t key_magic = 0x79656b2d796c6174, key_version = 1;

struct Kept {
  std::string name, owner;
  std::pair<std::int64_t, std::int64_t> used;  // seconds, nanoseconds
  std::uint64_t bytes = 0;                     // on disk
};

constexpr std::size_t owner_digits = 16;

/// Whether the name ends like the first link of name_file(), of a process that no longer exists.
bool is_left_over(const std::string& suffix) {
  const auto pid = suffix.starts_with('.') ? parse_integer(suffix.substr(1)) : std::nullopt;
  return pid && *pid > 0 && kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH;
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  Descriptor opened(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const entries = opened ? fdopendir(opened.get()) : nullptr;
  if (entries == nullptr) return names;
  opened.release();
  while (const dirent* const entry = readdir(entries)) names.emplace_back(entry->d_name);
  closedir(entries);
  return names;
}

std::vector<Kept> kept_files(int folder, const std::vector<std::string>& prefixes) {
  std::vector<Kept> kept;
  for (const std::string& name : names_in(folder)) {
    for (const std::string& prefix : prefixes) {
      if (!name.starts_with(prefix) || name.size() < prefix.size() + owner_digits) continue;
      const std::string owner = name.substr(prefix.size(), owner_digits);
      if (owner.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
      const std::string suffix = name.substr(prefix.size() + owner_digits);
      struct stat s {};
      if (fstatat(folder, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode)) continue;
      // Metadata of the file takes disk space too, which tally cannot control.
      const std::uint64_t bytes =
          std::min(static_cast<std::uint64_t>(s.st_blocks) * 512, static_cast<std::uint64_t>(s.st_size));
      if (suffix.empty()) kept.push_back({name, owner, {s.st_mtim.tv_sec, s.st_mtim.tv_nsec}, bytes});
      if (is_left_over(suffix)) unlinkat(folder, name.c_str(), 0);
    }
  }
  return kept;
}

std::string absolute_path_in(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string user_folder(const char* variable, const std::string& below_home) {
  if (const std::string folder = absolute_path_in(variable); !folder.empty()) return folder + "/tally";
  const std::string home = absolute_path_in("HOME");
  return home.empty() ? "" : home + "/" + below_home + "/tally";
}

std::string cache_folder() {
  if (secure_getenv("TALLY_CACHE_DIR") != nullptr) return absolute_path_in("TALLY_CACHE_DIR");
  return user_folder("XDG_CACHE_HOME", ".cache");
}

std::uint64_t cache_limit(std::uint64_t most) {
  const char* const word = secure_getenv("TALLY_CACHE_MB");
  if (word == nullptr) return most;
  constexpr std::uint64_t least_mb = 32;
  std::uint64_t mb = 0;
  const char* const end = word + std::strlen(word);
  const auto [stopped, error] = std::from_chars(word, end, mb);
  return error == std::errc() && stopped == end && mb >= least_mb && mb < most >> 20 ? mb << 20 : most;
}

std::optional<CacheKey> make_cache_key() {
  CacheKey key;
  if (getrandom(key.data(), sizeof key, 0) != static_cast<ssize_t>(sizeof key)) return std::nullopt;
  return key;
}

Result<CacheFolder> CacheFolder::open(const std::string& path, bool make) {
  auto folder = open_trusted_folder(path, make);
  if (!folder) return fail(folder.error());
  return CacheFolder(std::move(*folder), path);
}

Result<CacheFile> CacheFolder::open_file(const std::string& name, bool writes) const {
  const int flags = (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor file(openat(folder_.get(), name.c_str(), flags));
  const std::string path = path_ + "/" + name;
  if (!file && errno == ENOENT) return fail(Code::not_found, path + ": it does not exist");
  if (!file && errno == ELOOP) return fail(Code::cannot_measure, path + " is a link");
  struct stat s {};
  if (!file || fstat(file.get(), &s) != 0) return fail(Code::cannot_measure, path + ": " + errno_text(errno));
  if (!S_ISREG(s.st_mode)) return fail(Code::cannot_measure, path + " is not a regular file");
  if (s.st_uid != geteuid())
    return fail(Code::cannot_measure,
                fmt::format("{} belongs to user {}, and tally runs as user {}", path, s.st_uid, geteuid()));
  if ((s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(Code::cannot_measure, fmt::format("others may write {} (mode {:04o})", path, s.st_mode & 07777));
  return CacheFile{std::move(file), static_cast<std::uint64_t>(s.st_size), s.st_ino};
}

std::optional<CacheFile> CacheFolder::make_file(std::uint64_t bytes) const {
  Descriptor file(openat(folder_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  const WithoutSizeSignal without;
  struct stat s {};
  if (!file || ftruncate(file.get(), static_cast<off_t>(bytes)) != 0 || fstat(file.get(), &s) != 0) return std::nullopt;
  return CacheFile{std::move(file), bytes, s.st_ino};
}

bool CacheFolder::name_file(const CacheFile& file, const std::string& name) const {
  // linkat() cannot replace a name, so link a temporary name first and rename it.
  const std::string passing = fmt::format("{}.{}", name, getpid());
  const std::string from = fmt::format("/proc/self/fd/{}", file.file.get());
  const int folder = folder_.get();
  if (linkat(AT_FDCWD, from.c_str(), folder, passing.c_str(), AT_SYMLINK_FOLLOW) != 0) return false;
  if (renameat(folder, passing.c_str(), folder, name.c_str()) == 0) return true;
  unlinkat(folder, passing.c_str(), 0);
  return false;
}

Result<CacheKey> CacheFolder::read_key() const {
  const auto file = open_file(key_name, false);
  if (!file) return fail(file.error());
  const std::string path = path_ + "/" + key_name;
  struct stat s {};
  if (fstat(file->file.get(), &s) != 0 || (s.st_mode & 077) != 0)
    return fail(Code::cannot_measure, fmt::format("others may read {} (mode {:04o})", path, s.st_mode & 07777));
  StoredKey stored{};
  if (file->bytes != sizeof stored || pread(file->file.get(), &stored, sizeof stored, 0) != sizeof stored ||
      stored.magic != key_magic || stored.version != key_version)
    return fail(Code::cannot_measure, path + " is no key");
  return stored.key;
}

bool CacheFolder::keep_key(const CacheKey& key) const {
  if (const auto there = read_key()) return *there == key;
  const auto file = make_file(0);
  const StoredKey stored{key_magic, key_version, sizeof stored, key};
  if (!file || pwrite(file->file.get(), &stored, sizeof stored, 0) != sizeof stored) return false;
  // If two processes do this at once, the first one wins. A damaged key file is replaced.
  const std::string from = fmt::format("/proc/self/fd/{}", file->file.get());
  if (linkat(AT_FDCWD, from.c_str(), folder_.get(), key_name, AT_SYMLINK_FOLLOW) == 0) return true;
  if (const auto there = read_key()) return *there == key;
  return name_file(*file, key_name);
}

void CacheFolder::keep_remark(const std::string& remark) const {
  const int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
  const Descriptor file(openat(folder_.get(), remark_name, flags, 0600));
  const WithoutSizeSignal without;
  if (file) (void)!write(file.get(), remark.data(), std::min(remark.size(), remark_bytes));
}

std::string CacheFolder::take_remark() const {
  const auto file = open_file(remark_name, false);
  if (!file) return "";
  std::string text(remark_bytes, 0);
  const ssize_t bytes = read(file->file.get(), text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  unlinkat(folder_.get(), remark_name, 0);
  return text;
}

bool has_space(const CacheFile& file, std::uint64_t offset, std::uint64_t bytes) {
  const WithoutSizeSignal without;
  return fallocate(file.file.get(), 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

bool has_data(int file, std::uint64_t offset, std::uint64_t bytes) {
  const off_t found = lseek(file, static_cast<off_t>(offset), SEEK_DATA);
  return found >= 0 ? static_cast<std::uint64_t>(found) < offset + bytes : errno != ENXIO;
}

bool take_cache_file(CacheFile& file) {
  struct stat now {};
  if (flock(file.file.get(), LOCK_EX | LOCK_NB) != 0 || fstat(file.file.get(), &now) != 0) return false;
  file.bytes = static_cast<std::uint64_t>(now.st_size);
  return true;
}

void note_cache_file_used(const CacheFile& file) { (void)futimens(file.file.get(), nullptr); }

void bound_cache_files(const CacheFolder& folder, const std::vector<std::string>& prefixes, const std::string& own,
                       std::uint64_t most_bytes) {
  std::vector<Kept> kept = kept_files(folder.folder_.get(), prefixes);
  // Own files first, then by last use.
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
      unlinkat(folder.folder_.get(), one.name.c_str(), 0);
    }
  }
}

void bound_cache_files(const CacheFolder& folder, const std::string& prefix, std::uint64_t most_bytes) {
  std::vector<Kept> kept = kept_files(folder.folder_.get(), {prefix});
  std::sort(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) { return a.used > b.used; });
  std::uint64_t bytes = 0;
  for (const Kept& one : kept) {
    bytes += one.bytes;
    if (bytes > most_bytes) unlinkat(folder.folder_.get(), one.name.c_str(), 0);
  }
}

}  // namespace tally::linux
