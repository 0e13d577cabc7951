// The files whose code a process has mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::linux {

/// Memory that a process may execute.
struct CodeMapping {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::string path;         ///< of a file from the root on; what the kernel calls other memory: "[vdso]"; empty
  std::uint64_t inode = 0;  ///< 0: it is no file
  std::uint32_t device_major = 0, device_minor = 0;
};

/// The path of a mapped file from the kernel's list of mappings (/proc/PID/maps), which has "\\012" for a line break
/// and nothing for a backslash: whichever leads to the file with that number.
std::string listed_path(const std::string& listed, std::uint64_t inode);

/// Those of a process, by rising address; empty where it is gone or not to be seen.
std::vector<CodeMapping> code_mappings(pid_t process);

/// What a process was made of: the path of its program, empty where it is not to be seen.
std::string program_of(pid_t process);

/// The path without links in it, from the root on; as it is where it leads nowhere.
std::string whole_path(const std::string& path);

/// A file's bytes, mapped to be read. A file that somebody cuts off meanwhile ends who reads what is gone.
class FileBytes {
 public:
  /// Of `path` as `process` sees it (0: as we do). Errors: cannot_measure.
  static Result<FileBytes> of(const std::string& path, pid_t process = 0);
  std::string_view bytes() const { return {static_cast<const char*>(data_.get()), size_}; }

 private:
  std::shared_ptr<void> data_;
  std::size_t size_ = 0;
};

/// Writes to a file at an offset; false where not all of it could be.
bool write_at(int fd, std::uint64_t offset, const void* from, std::size_t bytes);

}  // namespace tally::linux
