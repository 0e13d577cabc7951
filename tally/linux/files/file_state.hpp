// Which file an open descriptor or a path leads to, and what it holds: enough to notice that it is another one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// A regular file, and its content by size and time of the last change (stat(2)).
struct FileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  auto operator<=>(const FileState&) const = default;
};

/// Nothing where it is no regular file.
std::optional<FileState> file_state(int fd);
/// The same of what a path leads to; nothing where it leads nowhere.
std::optional<FileState> file_state(const std::string& path);

/// The number that an inode has got anew each time that another file was made of it, where its file system tells it.
std::optional<std::uint64_t> generation_of(const std::string& path);

/// The mount that a file was opened through (STATX_MNT_ID); nothing where the kernel does not say it.
std::optional<std::uint64_t> mount_of(int fd);
std::optional<std::uint64_t> mount_of(const std::string& path);

/// Whether reading a file may wait for another computer, or for a program (FUSE), which may be one that is measured.
bool may_wait_for_others(int fd);

/// A copy of the first `bytes` of a file in memory; none where it cannot be read or is shorter.
Descriptor copy_to_memory(int fd, std::uint64_t bytes);

/// A directory to open files below; none where it cannot be opened.
Descriptor open_directory(const std::string& path);

/// The descriptors that this process may have at once.
std::uint64_t descriptor_limit();

/// A path at which helper programs of this process can open what the descriptor leads to, while it is open.
std::string path_of_descriptor(int fd);

}  // namespace tally::linux
