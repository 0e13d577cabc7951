#include "programs/linux/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

int operation(DirectoryLock kind) { return kind == DirectoryLock::shared ? LOCK_SH : LOCK_EX; }

}  // namespace

LockedDirectory lock_directory(const std::string& path, DirectoryLock kind) {
  LockedDirectory locked{.directory = Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))};
  locked.is_refused =
      locked.directory && flock(locked.directory.get(), operation(kind) | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return locked;
}

void await_lock(const LockedDirectory& locked, DirectoryLock kind) {
  (void)retry([&] { return flock(locked.directory.get(), operation(kind)); });
}

}  // namespace tally::linux
