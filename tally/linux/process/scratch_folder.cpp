#include "tally/linux/process/scratch_folder.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "tally/linux/descriptor.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

Result<ScratchFolder> ScratchFolder::make() {
  const char* place = secure_getenv("TMPDIR");
  return make_in(place && place[0] == '/' ? place : "/tmp");
}

namespace {

constexpr const char* prefix = "tally-run-";

/// The lock of a directory; nothing if another process holds it.
Descriptor lock_of(const std::string& path) {
  Descriptor held(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (held && flock(held.get(), LOCK_EX | LOCK_NB) != 0) return Descriptor();
  return held;
}

void remove_left_over(const std::string& directory) {
  constexpr time_t time_to_lock = 10;
  for (const std::string& name : folder_entries(directory)) {
    const std::string path = directory + "/" + name;
    struct stat status {};
    if (!name.starts_with(prefix) || lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || status.st_mtime > time(nullptr) - time_to_lock || !lock_of(path))
      continue;
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::make_in(const std::string& directory) {
  remove_left_over(directory);
  std::string path = directory + "/" + prefix + "XXXXXX";
  if (!mkdtemp(path.data())) return system_failure(Code::cannot_measure, "cannot create the directory " + path);
  Descriptor lock = lock_of(path);
  return ScratchFolder(std::move(path), std::move(lock));
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Result<void> make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  if (!failed) return {};
  return fail(Code::cannot_write, "cannot create the directory " + path + ": " + failed.message(), {}, failed.value());
}

namespace {

/// Never follows a link, and never writes to an existing file.
Result<void> write_new(const std::string& path, std::string_view bytes, mode_t mode) {
  (void)unlink(path.c_str());  // a running program cannot be overwritten
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) return system_failure(Code::cannot_write, "cannot write " + path);
  while (!bytes.empty()) {
    const ssize_t written = retry([&] { return write(file.get(), bytes.data(), bytes.size()); });
    if (written < 0) return system_failure(Code::cannot_write, "cannot write " + path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<void> write_scratch_file(const std::string& path, std::string_view text) { return write_new(path, text, 0600); }

Result<void> write_program(const std::string& path, std::string_view bytes) { return write_new(path, bytes, 0777); }

}  // namespace tally::linux
