#include "tally/linux/files/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "tally/linux/interruption.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

constexpr int most_names_tried = 100;  // each fails only if another process has that name

std::string passing_name(const std::string& name) {
  static std::atomic<unsigned> last = 0;
  return fmt::format(".{}.{}-{}.part", name, getpid(), ++last);
}

/// Whether a file without a name can get one: that needs this directory, which may be missing, or closed to a process
/// that has changed its user.
bool can_be_named_later() { return faccessat(AT_FDCWD, "/proc/self/fd", X_OK, AT_EACCESS) == 0; }

/// Errors of file systems without unnamed files (O_TMPFILE).
bool needs_name(int os_errno) {
  return os_errno == EOPNOTSUPP || os_errno == EISDIR || os_errno == ENOENT || os_errno == EACCES;
}

}  // namespace

bool put_on_disk(int fd) {
  // mpirun kills a rank tens of milliseconds after SIGTERM, and a busy disk takes longer.
  if (was_asked_to_end()) return true;
  if (retry([&] { return fsync(fd); }) == 0) return true;
  return errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

Result<NewFile> NewFile::make(int folder, const std::string& name, mode_t mode) {
  // "." because the directory may have been opened with O_PATH.
  NewFile made(Descriptor(openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)), name);
  if (!made.folder_) return system_failure(Code::cannot_write, "cannot create a new file");
  errno = EOPNOTSUPP;
  if (can_be_named_later())
    made.file_ = Descriptor(retry([&] { return openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode); }));
  for (int tries = 0; !made.file_ && tries < most_names_tried; ++tries) {
    if (tries == 0 ? !needs_name(errno) : errno != EEXIST) break;
    const std::string passing = passing_name(name);
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
    made.file_ = Descriptor(retry([&] { return openat(folder, passing.c_str(), flags, mode); }));
    if (made.file_) made.passing_ = passing;
  }
  if (!made.file_) return system_failure(Code::cannot_write, "cannot create a new file");
  return made;
}

NewFile::~NewFile() {
  if (file_ && !published_ && !passing_.empty()) unlinkat(folder_.get(), passing_.c_str(), 0);
}

// linkat() cannot replace a name, so the file gets a temporary name first.
Result<void> NewFile::give_passing_name() {
  const std::string from = fmt::format("/proc/self/fd/{}", file_.get());
  for (int tries = 0; passing_.empty(); ++tries) {
    const std::string passing = passing_name(name_);
    if (linkat(AT_FDCWD, from.c_str(), folder_.get(), passing.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      passing_ = passing;
    } else if (errno != EEXIST || tries == most_names_tried) {
      return system_failure(Code::cannot_write, "cannot name the new file");
    }
  }
  return {};
}

Result<void> NewFile::publish() {
  if (!put_on_disk(file_.get())) return system_failure(Code::cannot_write, "cannot write the new file to disk");
  if (published_) return {};
  if (auto named = give_passing_name(); !named) return named;
  if (renameat(folder_.get(), passing_.c_str(), folder_.get(), name_.c_str()) != 0)
    return system_failure(Code::cannot_write, "cannot replace the old file by the new one");
  published_ = true;
  return {};
}

}  // namespace tally::linux
