// Locks of directories between processes.
#pragma once

#include <string>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

enum class DirectoryLock { shared, exclusive };

/// The lock of a directory, which lasts until the descriptor is closed.
struct LockedDirectory {
  Descriptor directory;     ///< none if the directory cannot be opened
  bool is_refused = false;  ///< another process has a lock that excludes this one
};

/// Locks a directory without waiting. Where the file system has no locks, nothing is locked.
LockedDirectory lock_directory(const std::string& path, DirectoryLock kind);

/// Waits for the lock that was refused. Signals with handlers do not end it.
void await_lock(const LockedDirectory& locked, DirectoryLock kind);

}  // namespace tally::linux
