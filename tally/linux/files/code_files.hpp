// Reads which files a process has mapped as code.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Executable memory of a process.
struct CodeMapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::string path;         ///< absolute path of a file, or the kernel's name for other memory: "[vdso]"; may be empty
  std::uint64_t inode = 0;  ///< 0: not a file
  std::uint32_t device_major = 0, device_minor = 0;
};

/// Returns the path of a mapped file from its line in /proc/PID/maps. The kernel writes "\\012" for a line break but
/// does not escape backslashes: of the two readings, takes the one that leads to a file with this inode number.
std::string listed_path(const std::string& listed, std::uint64_t inode);

/// Returns the code mappings of a process, by rising address; empty if the process has ended or cannot be read.
std::vector<CodeMapping> code_mappings(pid_t process);

/// Returns the path without the words that the kernel adds to that of a removed file.
std::string without_deleted(std::string path);

/// Opens a file that a process has mapped as code, also if no path leads to it any more, or only one below another root
/// directory. `path`: as in CodeMapping; it identifies the file if `inode` is 0. Without CAP_CHECKPOINT_RESTORE, or
/// before Linux 5.9 CAP_SYS_ADMIN, opens only the program and files below the process's root directory. No descriptor
/// if the process has ended, or may not be read, or the file is not a regular one.
Descriptor open_mapped(pid_t process, const std::string& path, std::uint64_t inode);

/// Returns the path of the program that a process executes; empty if it cannot be read.
std::string program_of(pid_t process);

/// Returns the absolute path without links, or `path` unchanged if it does not exist.
std::string whole_path(const std::string& path);

/// Content of a file, mapped read-only. If the file is truncated meanwhile, reading the missing bytes raises SIGBUS.
class FileBytes {
 public:
  /// Maps `path` as `process` sees it (0: as this process does). Errors: cannot_measure.
  static Result<FileBytes> of(const std::string& path, pid_t process = 0);
  std::string_view bytes() const { return {static_cast<const char*>(data_.get()), size_}; }

 private:
  std::shared_ptr<void> data_;
  std::size_t size_ = 0;
};

}  // namespace tally::linux
